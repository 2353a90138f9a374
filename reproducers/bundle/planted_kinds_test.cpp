// Names, numbers and keys in here and in redaction/testdata are nobody's, and no run was measured.
#include <gmock/gmock.h>

#include <algorithm>

#include "harness/record/process_record.h"
#include "reproducers/bundle/bundle.h"
#include "reproducers/bundle/planted_run.h"
#include "reproducers/bundle/redaction/planted_texts.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Where in a run a text can stand.
enum class Place : unsigned char { out, err, event, environment, path, file_name, crash_report };
constexpr Place kPlaces[] = {Place::out,  Place::err,       Place::event,       Place::environment,
                             Place::path, Place::file_name, Place::crash_report};

/// A run in which every text of testdata stands at each of the places, behind a mark of its own.
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
        process.hello->provenance = journal.provenances.begin()->second.dump();
      }
    }
    for (size_t i = 0; i < texts_.size(); ++i) {
      plant(i, *processes[i % processes.size()], journal.header);
    }
    for (ProcessRecord* process : processes) {
      process->out.bytes = process->out.head.size();
      process->err.bytes = process->err.head.size();
    }
    JournalWriter writer(file, journal.header);
    for (const TrialRecord& trial : journal.trials) writer.append(trial);
    plant_crash_report();
  }

  static std::string mark(Place place, size_t i) {
    return "mark" + std::to_string(static_cast<int>(place)) + "x" + std::to_string(i) + "x";
  }
  const std::vector<PlantedText>& texts() const { return texts_; }
  const PlantedRun& run() const { return run_; }

 private:
  void plant(size_t i, ProcessRecord& process, CampaignHeader& header) {
    const std::string& text = texts_[i].text;
    process.out.head += mark(Place::out, i) + " " + text + "\n";
    process.err.head += mark(Place::err, i) + " " + text + "\n";
    process.failures.push_back(
        {"exception", mark(Place::event, i) + " " + text, "run", 0, 0, "linear"});
    const std::string name = "PLANTED" + std::to_string(i);
    header.environment.push_back(name + "=" + text);
    header.environment.push_back("PYTORCH_" + mark(Place::environment, i) + "=" + text);
    header.command_line.insert(header.command_line.end(), {"--env", name + "=" + text});
    header.command_line.push_back("--env=" + name + "=" + text);
    process.recorder.crash.frames.push_back(
        {"/srv/" + text + "/" + mark(Place::path, i) + ".so", "", 7});
    process.recorder.crash.frames.push_back({"/srv/x/" + text + ".so", "", 7});
  }

  void plant_crash_report() {
    const std::string raw = bytes_of(run_.run() / "evidence" / "1-0.ips");
    const size_t line = raw.find('\n');
    auto body = nlohmann::ordered_json::parse(raw.substr(line));
    auto& lines = body["asi"]["planted"] = nlohmann::ordered_json::array();
    auto& images = body["usedImages"];
    for (size_t i = 0; i < texts_.size(); ++i) {
      lines.push_back(mark(Place::crash_report, i) + " " + texts_[i].text);
      images.push_back({{"name", texts_[i].text},
                        {"path", "/Applications/" + texts_[i].text},
                        {"uuid", "a1b2c3d4-0000-3000-8000-000000000077"}});
    }
    body["parentProc"] = body["responsibleProc"] = body["coalitionName"] = "PlantedSecretApp";
    run_.write("run/evidence/1-0.ips", raw.substr(0, line + 1) + body.dump(1) + "\n");
  }

  PlantedRun run_;
  std::vector<PlantedText> texts_;
};

TEST(PlantedKinds, LeaveNothingInTheUnpackedArchiveAndTheTextsAroundThem) {
  const RunOfKinds planted;
  const auto bundles = write_bundles(planted.run().run(), planted.run().options());
  ASSERT_EQ(bundles.size(), 1U);
  std::string all;
  for (const BundleFile& file : read_archive(bytes_of(bundles[0].archive), kMostBundle)) {
    all += file.path + "\n" + file.bytes + "\n";
  }
  EXPECT_EQ(all.find("PlantedSecretApp"), std::string::npos);
  for (const PlantedText& text : planted.texts()) {
    for (const std::string& personal : text.personal) {
      // As JSON writes it, and as it was.
      std::string escaped = nlohmann::json(personal).dump(-1, ' ', true);
      escaped = escaped.substr(1, escaped.size() - 2);
      for (const std::string& form : {personal, escaped}) {
        const size_t at = all.find(form);
        if (at == std::string::npos) continue;
        ADD_FAILURE() << text.kind << ": " << form << "\nin "
                      << all.substr(at < 150 ? 0 : at - 150, 300);
        break;
      }
    }
  }
  for (Place place : kPlaces) {
    if (place == Place::file_name) continue;  // a path of which nothing is left has no mark
    for (size_t i = 0; i < planted.texts().size(); ++i) {
      EXPECT_NE(all.find(RunOfKinds::mark(place, i)), std::string::npos)
          << "the mark of text " << i << " is gone at place " << static_cast<int>(place);
    }
  }
}

TEST(PlantedKinds, WhatStillLooksPersonalIsNamedByFileAndLine) {
  const PlantedRun run;
  run.write(
      "run/" + run.reproduction().filename().string() + "/programs/metal/x.mm",
      "int main() {}\n// jane@somewhere wrote it\n// nobody wrote this\n// in /data/janes/x\n");
  const auto bundles = write_bundles(run.run(), run.options());
  EXPECT_THAT(bundles.at(0).looks_personal,
              testing::IsSupersetOf({LooksPersonal{"programs/metal/x.mm", 2, "a word with @ in it"},
                                     LooksPersonal{"programs/metal/x.mm", 4,
                                                   "a path that begins at the root of a disk"}}));
  for (const LooksPersonal& place : bundles[0].looks_personal) {
    EXPECT_FALSE(place.file == "programs/metal/x.mm" && place.line == 3);
  }
}

TEST(PlantedKinds, OrdinaryTechnicalTextLooksPersonalSeldom) {
  size_t suspected = 0;
  for (const std::string& line : technical_lines())
    suspected += kinds_that_look_personal(line).empty() ? 0 : 1;
  EXPECT_LE(suspected, 10U);
}

}  // namespace
}  // namespace mpsprobe
