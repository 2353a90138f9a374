// Names, numbers and keys in here and in redaction/testdata are nobody's, and no run was measured.
#include <gmock/gmock.h>

#include <algorithm>

#include "harness/input/input_error.h"
#include "harness/record/process_record.h"
#include "harness/signature/find_failures.h"
#include "reproducers/bundle/bundle.h"
#include "reproducers/bundle/planted_run_for_tests.h"
#include "reproducers/bundle/redaction/planted_texts_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A run in which every text of testdata stands wherever a text can.
class RunOfKinds {
 public:
  RunOfKinds() : texts_(planted_texts()) {
    const fs::path file = run_.run() / "journal.ndjson";
    Journal journal = read_journal(file);
    fs::remove(file);
    std::vector<ProcessRecord*> processes;
    for (TrialRecord& trial : journal.trials) {
      if (!is_failure(trial.judgement.outcome)) continue;
      for (ProcessRecord& process : trial.processes) processes.push_back(&process);
    }
    for (TrialRecord& trial : journal.trials) {
      for (ProcessRecord& process : trial.processes) {
        nlohmann::json provenance = journal.provenances.begin()->second;
        const PlantedText& text = texts_[trial.sequence % texts_.size()];
        provenance["device"]["name"] = provenance["torch"]["version"] = text.text;
        provenance["device"][text.text] = provenance[text.text] = true;
        provenance["symbols"][text.text] = provenance["environment"][text.text] = true;
        process.hello->provenance = provenance.dump();
      }
    }
    for (size_t i = 0; i < texts_.size(); ++i) {
      plant(i, *processes[i % processes.size()], journal.header);
    }
    plant_titles(journal);
    for (ProcessRecord* process : processes) {
      process->out.bytes = process->out.head.size();
      process->err.bytes = process->err.head.size();
    }
    JournalWriter writer(file, journal.header);
    for (const TrialRecord& trial : journal.trials) writer.append(trial);
  }

  const std::vector<PlantedText>& texts() const { return texts_; }
  const PlantedRun& run() const { return run_; }

 private:
  void plant(size_t i, ProcessRecord& process, CampaignHeader& header) {
    const std::string& text = texts_[i].text;
    process.out.head += text + "\n";
    process.err.head +=
        "terminate called after throwing an instance of 'std::runtime_error'\n  what():  " + text +
        "\n";
    process.failures.push_back({"exception", text, "run", 0, 0, "linear"});
    process.setup_problem += text + "\n";
    process.start_remark += text + "\n";
    const std::string name = "PLANTED" + std::to_string(i);
    header.environment.push_back(name + "=" + text);
    header.environment.push_back("PYTORCH_X" + std::to_string(i) + "=" + text);
    header.command_line.insert(header.command_line.end(), {"--env", name + "=" + text});
    header.command_line.push_back("--env=" + name + "=" + text);
    process.recorder.crash.frames.push_back({"/srv/" + text + "/libpool.so", "", 7});
    process.recorder.crash.frames.push_back({"/srv/x/" + text + ".so", "", 7});
    ThreadStack stack;
    stack.name = text;
    stack.frames = {{"/usr/lib/libc.so.6", "", 7, "main"},
                    {"/srv/libplanted.so", "", 7, text, text}};
    process.stacks.threads.push_back(stack);
  }

  /// As they are made of what a process prints.
  void plant_titles(Journal& journal) {
    for (TrialRecord& trial : journal.trials) {
      if (!is_failure(trial.judgement.outcome)) continue;
      trial.judgement.basis = Basis::frames;
      for (size_t i = trial.sequence; i < texts_.size(); i += journal.trials.size()) {
        for (const Finding& finding : find_failures("RuntimeError: " + texts_[i].text)) {
          trial.judgement.also.push_back({finding.title, finding.known});
        }
        trial.judgement.also.push_back({"bad access in " + texts_[i].text, false});
      }
    }
  }

  PlantedRun run_;
  std::vector<PlantedText> texts_;
};

std::string everything_in(const WrittenBundle& bundle) {
  std::string all;
  for (const BundleFile& file : files_of_archive(bytes_of(bundle.archive))) {
    all += file.path + "\n" + file.bytes + "\n";
  }
  return all;
}

/// Planted texts that are there, as JSON writes them or as they were. A name that a bundle without
/// them says as well ("Max", "will") is none that can be found so; known_text_test.cpp looks for
/// it.
std::vector<std::string> left_in(const std::string& all, const std::vector<PlantedText>& texts) {
  const PlantedRun without;
  const std::string said = everything_in(write_bundles(without.run(), without.options()).at(0));
  std::vector<std::string> left;
  for (const PlantedText& text : texts) {
    for (const std::string& personal : text.personal) {
      std::string escaped = nlohmann::json(personal).dump(-1, ' ', true);
      escaped = escaped.substr(1, escaped.size() - 2);
      const size_t at = std::min(all.find(personal), all.find(escaped));
      if (at == std::string::npos || said.find(personal) != std::string::npos) continue;
      left.push_back(text.kind + ": " + all.substr(at < 150 ? 0 : at - 150, 300));
      break;
    }
  }
  return left;
}

TEST(PlantedKinds, LeaveNothingInTheUnpackedArchive) {
  const RunOfKinds planted;
  const auto bundles = write_bundles(planted.run().run(), planted.run().options());
  ASSERT_EQ(bundles.size(), 1U);
  const std::string all = everything_in(bundles[0]);
  EXPECT_THAT(left_in(all, planted.texts()), testing::IsEmpty());
  EXPECT_GT(bundles[0].lines_left_out, planted.texts().size());
}

TEST(PlantedKinds, AreShownBeforeTheyArePackedWithOutput) {
  const RunOfKinds planted;
  BundleOptions options = planted.run().options();
  std::string shown;
  bool agreed = false;
  options.show_output = [&](const std::vector<std::string>& output) {
    for (const std::string& text : output) shown += text + "\n";
    return agreed;
  };
  EXPECT_THROW(write_bundles(planted.run().run(), options), InputError);
  EXPECT_FALSE(fs::exists(planted.run().out()));
  for (const PlantedText& text : planted.texts()) EXPECT_THAT(shown, HasSubstr(text.text));
  agreed = true;
  const auto bundles = write_bundles(planted.run().run(), options);
  EXPECT_EQ(bundles.at(0).lines_left_out, 0U);
  EXPECT_GT(left_in(everything_in(bundles[0]), planted.texts()).size(), 100U);
}

}  // namespace
}  // namespace mpsprobe
