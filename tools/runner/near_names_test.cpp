// What people mistype, and whether the message that refuses it names what they meant.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

class MistypedWords : public ProgramTest {};

struct Mistyped {
  std::vector<std::string> arguments;
  std::string meant;
};

std::vector<Mistyped> mistyped_words() {
  std::vector<Mistyped> words;
  const auto add = [&words](std::vector<std::string> arguments, const char* meant) {
    words.push_back({std::move(arguments), meant});
  };
  // Subcommands.
  add({"rnu"}, "run");
  add({"rum"}, "run");
  add({"lsit"}, "list");
  add({"repor"}, "report");
  add({"repo"}, "repro");
  add({"docter"}, "doctor");
  add({"feeback"}, "feedback");
  add({"verfy"}, "verify");
  add({"shwo"}, "show");
  add({"completion"}, "completions");
  // Options, and axes as options.
  for (const auto& [typed, meant] :
       std::vector<std::pair<std::string, const char*>>{{"--trails", "--trials"},
                                                        {"--martix", "--matrix"},
                                                        {"--fliter", "--filter"},
                                                        {"--budgt", "--budget"},
                                                        {"--memory", "--memory-limit"},
                                                        {"--job", "--jobs"},
                                                        {"--sed", "--seed"},
                                                        {"--resum", "--resume"},
                                                        {"--workers", "--worker"},
                                                        {"--expect-troch", "--expect-torch"},
                                                        {"--know-good", "--known-good"},
                                                        {"--failon", "--fail-on"},
                                                        {"--dryrun", "--dry-run"},
                                                        {"--thread", "--threads"},
                                                        {"--process", "--processes"},
                                                        {"--iteration", "--iterations"},
                                                        {"--backnd", "--backend"},
                                                        {"--lifetme", "--lifetime"},
                                                        {"--crash-report", "--crash-reports"},
                                                        {"--Threads", "--threads"}}) {
    add({"run", typed, "3"}, meant);
  }
  // Values of options and of axes.
  add({"run", "--fail-on", "unexpectd"}, "unexpected");
  add({"run", "--known-good", "alway"}, "always");
  add({"list", "matrixes"}, "matrices");
  add({"list", "operation"}, "operations");
  add({"list", "axis"}, "axes");
  add({"completions", "bsh"}, "bash");
  add({"run", "--backend", "mpx"}, "mps");
  add({"run", "--backend", "CUDA"}, "cuda");
  add({"run", "--backend", "mlxx"}, "mlx");
  add({"run", "--path", "nograf"}, "nograph");
  add({"run", "--lock", "fowrard"}, "forward");
  add({"run", "--start", "staggerd"}, "staggered");
  add({"run", "--stream", "per_thread"}, "per-thread");
  add({"run", "--sync", "ends"}, "end");
  add({"run", "--validation", "api+shaders"}, "api+shader");
  // Matrices, operations, axes and values within a cell.
  add({"run", "--matrix", "quik"}, "quick");
  add({"run", "--matrix", "defualt"}, "default");
  add({"run", "--matrix", "afected"}, "affected");
  add({"run", "--matrix", "cuda-graph"}, "cuda-graphs");
  add({"run", "--matrix", "stream"}, "streams");
  add({"run", "--matrix", "mlxs"}, "mlx");
  add({"run", "--op", "selftest.deadlok", "--backend", "cpu"}, "selftest.deadlock");
  add({"run", "--op", "selftest.trp", "--backend", "cpu"}, "selftest.trap");
  add({"run", "--cell", "cpu/selftest.flod/default"}, "selftest.flood");
  add({"run", "--cell", "cpu/selftest.pass/defualt"}, "default");
  add({"run", "--cell", "cpu/selftest.pass/default/treads=3"}, "threads");
  add({"run", "--cell", "cpu/selftest.pass/default/threads=3/lok=none"}, "lock");
  add({"run", "--cell", "cu/selftest.pass/default"}, "cpu");
  // Profiles.
  add({"run", "--op", "selftest.pass", "--profile", "report-00"}, "report-000");
  add({"run", "--op", "selftest.pass", "--profile", "clen"}, "clean");
  return words;
}

TEST_F(MistypedWords, AreAnsweredWithTheOneThatWasMeant) {
  const std::vector<Mistyped> words = mistyped_words();
  ASSERT_EQ(words.size(), 60U);
  int right = 0;
  std::string wrong;
  for (const Mistyped& word : words) {
    std::vector<std::string> arguments = word.arguments;
    if (arguments[0] == "run") {
      arguments.insert(arguments.end(), {"--worker", selftest_, "--dry-run"});
    }
    const Run run = mpsprobe(arguments);
    if (run.exit_code == 2 &&
        run.err.find("did you mean \"" + word.meant + "\"?") != std::string::npos) {
      ++right;
    } else {
      wrong += run.err;
    }
  }
  RecordProperty("right", right);
  EXPECT_GE(right, 55) << wrong;
}

}  // namespace
}  // namespace mpsprobe
