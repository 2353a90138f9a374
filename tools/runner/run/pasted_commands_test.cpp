// What is printed is pasted: it runs the same cell on the same worker, in the same environment and
// within the same limits, whatever stands in them, from every command and in every format.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/journal/journal.h"
#include "reports/words/safe_text.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr const char* kCell = "cpu/selftest.null_dereference/default/threads=2";
// What a shell or a screen would act on.
const std::string kValue = "PLANTED=it's \"two\" $(words)\n`and` a line \\ \x1b[2J\t";

/// The command that begins at `at`, to the end of the line on which its quotes are closed.
std::string command_at(const std::string& text, size_t at) {
  const size_t begin = at;
  bool quoted = false;
  for (; at < text.size() && (quoted || text[at] != '\n'); ++at) {
    if (text[at] == '\\' && !quoted)
      ++at;
    else if (text[at] == '\'')
      quoted = !quoted;
  }
  return text.substr(begin, at - begin);
}

std::string without_entities(std::string text) {
  const std::map<std::string, std::string> entities{{"</pre>", "\n"}, {"&lt;", "<"},
                                                    {"&gt;", ">"},    {"&quot;", "\""},
                                                    {"&#39;", "'"},   {"&amp;", "&"}};
  for (const auto& [entity, plain] : entities) {
    for (size_t at; (at = text.find(entity)) != std::string::npos;) {
      text.replace(at, entity.size(), plain);
    }
  }
  return text;
}

class PastedCommands : public ProgramTest {
 protected:
  PastedCommands() {
    // Printed commands begin with it, and it keeps what a shell hands to it.
    receiver_ = write("it's\nthe receiver",
                      "#!/bin/sh\nfor word in \"$@\"; do printf '%s\\0' \"$word\"; "
                      "done > '" +
                          path("received") + "'\n");
    fs::permissions(receiver_, fs::perms::owner_all);
    setenv("MPSPROBE_CALLED_AS", receiver_.c_str(), 1);
    fs::create_directory(path("a \"$(worker)\"\nfolder"));
    worker_ = path("a \"$(worker)\"\nfolder/it's");
    fs::create_symlink(selftest_.substr(selftest_.find('=') + 1), worker_);
  }
  ~PastedCommands() override { unsetenv("MPSPROBE_CALLED_AS"); }

  Words arguments(const std::string& out, const Words& more = {}) const {
    Words words{"run",
                "--cell",
                kCell,
                "--trials",
                "2",
                "--seed",
                "5",
                "--stall",
                "7",
                "--timeout",
                "33.5",
                "--memory-limit",
                "3000",
                "--jobs",
                "1",
                "--env",
                kValue,
                "--known-good",
                "never",
                "--start-process",
                "exec",
                "--worker",
                "stock=" + worker_,
                "--out",
                path(out),
                "--format",
                "markdown,json,html"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// What a shell hands to the program of a printed command.
  Words received(const std::string& command) const {
    fs::remove(path("received"));
    EXPECT_EQ(shell(command).exit_code, 0) << command;
    Words words;
    std::string all = read("received");
    for (size_t end; (end = all.find('\0')) != std::string::npos; all.erase(0, end + 1)) {
      words.push_back(all.substr(0, end));
    }
    return words;
  }

  /// What is received of each different command in a text that begins so.
  std::set<Words> pasted(const std::string& text, const std::string& begins) const {
    std::set<Words> all;
    const std::string begin = shell_quoted(receiver_) + " " + begins;
    for (size_t at = 0; (at = text.find(begin, at)) != std::string::npos; ++at) {
      all.insert(received(command_at(text, at)));
    }
    return all;
  }

  static std::string value_of(const Words& words, const std::string& option) {
    const auto at = std::find(words.begin(), words.end(), option);
    return at == words.end() || at + 1 == words.end() ? "" : *(at + 1);
  }

  /// The one command in each of these texts asks for all that the first run had.
  void expect_same(const std::map<std::string, std::string>& texts,
                   const std::string& worker) const {
    for (const auto& [place, text] : texts) {
      std::set<Words> all = pasted(text, "run --cell ");
      // The whole run's own, which Markdown has as well, says where it was kept.
      std::erase_if(all, [](const Words& words) { return !value_of(words, "--out").empty(); });
      ASSERT_EQ(all.size(), 1U) << place << "\n" << text;
      const Words& words = *all.begin();
      EXPECT_EQ(value_of(words, "--seed"), "5") << place;
      EXPECT_EQ(value_of(words, "--timeout"), "33.5") << place;
      EXPECT_EQ(value_of(words, "--stall"), "7") << place;
      EXPECT_EQ(value_of(words, "--memory-limit"), "3000") << place;
      EXPECT_EQ(value_of(words, "--worker"), worker) << place;
      EXPECT_EQ(value_of(words, "--env"), kValue) << place;
      EXPECT_EQ(value_of(words, "--start-process"), "exec") << place;
    }
  }

  std::map<std::string, std::string> texts_of(const Run& run, const std::string& out) const {
    const nlohmann::json report = nlohmann::json::parse(read(out + "/report.json"));
    return {{"terminal of " + out, run.out},
            {"Markdown of " + out, read(out + "/report.md")},
            {"JSON of " + out, report.at("signatures").at(0).at("first").at("rerun")}};
  }

  std::string receiver_;
  std::string worker_;
};

TEST_F(PastedCommands, OfRunsRunTheSameCellInTheSameSetUp) {
  const Run first = mpsprobe(arguments("first"));
  expect_same(texts_of(first, "first"), "stock=" + worker_);
  const Words words = *pasted(first.out, "run --cell ").begin();
  EXPECT_EQ(value_of(words, "--cell"), kCell);
  // A run that took all of it over says as much.
  const Run failed = mpsprobe({"run", "--failed", path("first"), "--out", path("failed")});
  expect_same(texts_of(failed, "failed"), "stock=" + worker_);
  // What was received runs, and is the same run.
  Words again = words;
  again.insert(again.end(), {"--out", path("again")});
  mpsprobe(again);
  const Journal before = read_journal(path("first/journal.ndjson"));
  const Journal after = read_journal(path("again/journal.ndjson"));
  EXPECT_EQ(after.header.workers.at(0).path, before.header.workers.at(0).path);
  EXPECT_EQ(after.header.environment, before.header.environment);
  EXPECT_EQ(after.header.memory_limit_bytes, before.header.memory_limit_bytes);
  EXPECT_EQ(after.header.start_process, before.header.start_process);
  EXPECT_EQ(after.header.jobs, before.header.jobs);
  ASSERT_EQ(after.trials.size(), before.trials.size());
  EXPECT_EQ(to_string(after.trials[0].cell), to_string(before.trials[0].cell));
  EXPECT_EQ(after.trials[0].judgement.signature, before.trials[0].judgement.signature);
}

TEST_F(PastedCommands, OfCellsWithAVariableOfOnesOwnRunAsTheyStand) {
  const Run first = mpsprobe({"run", "--op", "selftest.null_dereference", "--backend", "cpu",
                              "--threads", "2", "--env.OWN_SWITCH", "unset,7", "--force-env",
                              "--trials", "1", "--worker", selftest_, "--out", path("first")});
  for (const auto& [place, text] : texts_of(first, "first")) {
    const std::set<Words> all = pasted(text, "run --cell ");
    ASSERT_EQ(all.size(), 1U) << place << text << first.err;
    Words again = *all.begin();
    again.insert(again.end(), {"--out", path(place)});
    const Run run = mpsprobe(again);
    ASSERT_EQ(run.exit_code, 0) << place << run.err;
    const Journal journal = read_journal(path(place + "/journal.ndjson"));
    EXPECT_THAT(to_string(journal.trials.at(0).cell), HasSubstr("threads=2/env.OWN_SWITCH="));
  }
}

TEST_F(PastedCommands, OfAWholeRunAreWhatWasCalled) {
  mpsprobe(arguments("first"));
  for (const std::string& text :
       {read("first/report.md"), without_entities(read("first/report.html"))}) {
    EXPECT_THAT(pasted(text,
                       "run --cell cpu/selftest.null_dereference/default/threads=2 --trials 2 "
                       "--seed 5 --stall"),
                ElementsAre(arguments("first")));
  }
}

TEST_F(PastedCommands, OfAReductionAndOfABundleHaveItsLimitsToo) {
  mpsprobe(arguments("first"));
  const Run less =
      mpsprobe({"repro", path("first"), "--no-programs", "--no-conditions", "--out", path("less")});
  ASSERT_EQ(less.exit_code, 0) << less.err;
  expect_same({{"terminal of repro", less.out}, {"repro.md", read("less/repro.md")}},
              "stock=" + worker_);
  EXPECT_EQ(read_journal(path("less/journal.ndjson")).header.memory_limit_bytes,
            uint64_t{3000} << 20);
  const Run packed = mpsprobe({"feedback", path("first"), "--no-redact", "--out", path("packed")});
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  std::string folder;
  for (const auto& entry : fs::directory_iterator(path("packed"))) {
    if (entry.is_directory()) folder = "packed/" + entry.path().filename().string();
  }
  // Nobody else has the worker: its place is named, and no other build takes it.
  for (const char* file : {"/issue.md", "/README.md"}) {
    const std::string text = read(folder + file);
    const size_t at = text.find("mpsprobe run --cell ");
    ASSERT_NE(at, std::string::npos) << file << text;
    const Words words = received(shell_quoted(receiver_) + command_at(text, at).substr(8));
    EXPECT_THAT(value_of(words, "--worker"), testing::StartsWith("stock=<")) << file;
    EXPECT_EQ(value_of(words, "--env"), kValue) << file;
    EXPECT_EQ(value_of(words, "--memory-limit"), "3000") << file;
    EXPECT_EQ(value_of(words, "--timeout"), "33.5") << file;
    EXPECT_EQ(value_of(words, "--start-process"), "exec") << file;
  }
  EXPECT_THAT(read(folder + "/bundle.json"), HasSubstr("\"memory_limit_mib\": 3000"));
}

TEST_F(PastedCommands, ThatGoOnNameTheFolder) {
  const std::string out = path("cut \"$(off)\"\nit's");
  const std::string build = selftest_.substr(selftest_.find('=') + 1);
  const Run bisection =
      mpsprobe({"bisect", "cpu/selftest.deadlock/default", "--builds", "a=" + build + ",b=" + build,
                "--stall", "0.7", "--budget", "0.01", "--out", out});
  EXPECT_THAT(pasted(bisection.err, "bisect "), ElementsAre(Words{"bisect", "--resume", out}))
      << bisection.err;
}

TEST_F(PastedCommands, NameTheSmallestCellThatFailsAsOftenAsAny) {
  const Run run = mpsprobe({"run", "--op", "selftest.null_dereference", "--backend", "cpu",
                            "--threads", "2,4,8", "--trials", "2", "--jobs", "1", "--worker",
                            selftest_, "--out", path("first")});
  const std::set<Words> all = pasted(run.out + read("first/report.md"), "run --cell ");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(value_of(*all.begin(), "--cell"), kCell);
}

}  // namespace
}  // namespace mpsprobe
