#include "tools/runner/repro/repro_programs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/folder/folder.h"
#include "harness/input/json_text.h"
#include "harness/journal/journal.h"
#include "harness/matrix/operation_info.h"
#include "harness/wire/loaded_library.h"
#include "reports/analysis/devices.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "reproducers/emit/emission.h"
#include "reproducers/proof/proof.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAgain = "minimum.json is whole, and `mpsprobe repro --resume` goes on";
// In the folder of the reduction.
constexpr const char* kPrograms = "programs";
constexpr const char* kProof = "proof";

/// Of the trials that the minimisation rests on; a crash where none is found.
Judgement judgement_of(const fs::path& folder, const std::string& signature) {
  for (const TrialRecord& trial : read_journal(folder / "journal.ndjson").trials) {
    if (trial.judgement.signature == signature) return trial.judgement;
  }
  return {.outcome = Outcome::signal};
}

std::string words_of(const Proof& proof) {
  if (!proof.tried()) return "not tried: " + proof.problem;
  if (proof.arm == ProofArm::rate) return fmt::format("{}: {} of {}", proof.what, proof.k, proof.n);
  const std::string count = fmt::format("{}, {} of {} as expected", proof.what, proof.k, proof.n);
  return proof.held ? count : count + ": " + proof.problem;
}

std::string section(const std::vector<Emission>& emissions, const std::vector<Proof>& proofs,
                    const Tally& cell) {
  std::string text = fmt::format(
      "\n## Programs\n\nWhat there is of the minimal cell as a program, and how it was tried here "
      "before it was handed out. The cell itself failed in {} of {} trials.\n\n| program | arm | "
      "seen |\n|---|---|---|\n",
      cell.failures, cell.trials);
  for (const Proof& proof : proofs) {
    text += fmt::format("| {} | {} | {} |\n", name_of(proof.kind), name_of(proof.arm),
                        escaped(shortened(words_of(proof), 600)));
  }
  for (const Emission& emission : emissions) {
    if (!emission.possible()) {
      text +=
          fmt::format("\nNo program {}: {}.\n", name_of(emission.kind), escaped(emission.why_not));
      continue;
    }
    text += fmt::format("\n`programs/{}`: ", name_of(emission.kind));
    text += emission.build.empty() ? "" : "build it with " + code_span(emission.build) + ", ";
    text += "run it with " + code_span(emission.run) + ".";
    for (const std::string& missing : emission.not_expressed) {
      text += " Not in it: " + escaped(missing);
    }
    text += '\n';
  }
  return text;
}

void write_files(const fs::path& folder, const std::vector<Emission>& emissions) {
  std::error_code error;
  fs::remove_all(folder / kPrograms, error);  // of an earlier call
  const Folder run(folder);
  for (const Emission& emission : emissions) {
    if (emission.files.empty()) continue;
    const Folder place = run.make_below(fmt::format("{}/{}", kPrograms, name_of(emission.kind)));
    for (const EmittedFile& file : emission.files) {
      write_atomically(place.path() / file.name, file.text, kAgain);
    }
  }
}

}  // namespace

std::string write_programs(const fs::path& folder, const Minimum& minimum,
                           const nlohmann::json& describe, const std::atomic<bool>& interrupted) {
  if (minimum.cell.backend == Backend::command) return "";  // it is a program itself
  ProofRequest proof;
  EmissionRequest& request = proof.what;
  request.cell = minimum.cell;
  request.signature = minimum.signature;
  const Judgement judgement = judgement_of(folder, minimum.signature);
  request.outcome = judgement.outcome;
  request.at_end = judgement.phase >= Phase::teardown;
  if (minimum.simulated) {
    std::vector<std::string> devices;
    for (const nlohmann::json& backend : describe.at("backends")) {
      if (backend.at("name") == name_of(minimum.cell.backend)) {
        devices.push_back(backend.value("device", ""));
      }
    }
    request.watermark = simulated_watermark(minimum.cell, own_mps_code(devices));
  }
  const Operations operations = operations_from(describe);
  if (const auto own = operations.find(minimum.cell.op); own != operations.end()) {
    request.own_function = own->second.own_function;
    request.own_test = own->second.own_test;
  }
  request.programs = data_folder() / "programs";

  say(stderr, "building and running the programs: this can take minutes\n");
  proof.simulated = minimum.simulated;
  std::error_code error;
  fs::remove_all(folder / kProof, error);  // a link that lies there goes, and not what it leads to
  proof.work = Folder(fs::absolute(folder)).make_below(kProof).path();
  proof.data = data_folder();
  proof.libraries = data_folder().parent_path().parent_path() / "lib";
  const auto provenance = describe.value("provenance", nlohmann::json::object());
  proof.library = library_under_test(provenance).path;
  proof.version = minimum.build.version;
  proof.interpreter = provenance.value("python", nlohmann::json::object()).value("executable", "");
  proof.environment = minimum.environment;
  proof.interrupted = &interrupted;
  proof.on_proof = [](const Proof& each) {
    say(stderr, "{:<9} {:<11} {}\n", name_of(each.kind), name_of(each.arm),
        printable(shortened(words_of(each), 300)));
  };
  Proved proved;
  try {
    proved = prove(proof);
  } catch (const fs::filesystem_error& error) {
    throw MachineError(
        fmt::format("{}: {}. Free some space, or leave the programs out with --no-programs",
                    proof.work.string(), error.code().message()));
  }
  fs::remove_all(proof.work, error);  // what was built
  write_files(folder, proved.emissions);
  const std::vector<Proof>& proofs = proved.proofs;
  write_atomically(folder / "proofs.json", json_document(nlohmann::ordered_json(to_json(proofs))),
                   kAgain);
  return section(proved.emissions, proofs, minimum.reliability);
}

}  // namespace mpsprobe
