#include "reproducers/bundle/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/crash_report/report_file.h"
#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/wire/own_command.h"
#include "reports/analysis/devices.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/pages/finding.h"
#include "reproducers/bundle/redaction/redact_journal.h"
#include "reproducers/minimise/slug.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kJournal = "journal.ndjson";
constexpr uintmax_t kMostJournalBytes = uintmax_t{1} << 30;
constexpr size_t kMostRecordBytes = size_t{4} << 20;  ///< of minimum.json and proofs.json
constexpr int kMostRecordDepth = 32;
constexpr size_t kMostProgramBytes = size_t{256} << 10;
constexpr size_t kMostProgramFiles = 32;
constexpr size_t kMostRunFolders = 1000;

std::string shown(const std::string& text) {
  return shortened(printable(text), 120);
}

/// The system's reports are no part of a bundle: what was read of them is in the trials.
void forget_report_files(Journal& journal) {
  for (TrialRecord& trial : journal.trials) {
    for (ProcessRecord& process : trial.processes) {
      if (process.crash_report) process.crash_report->file.clear();
      for (GpuEvent& event : process.gpu_events) event.file.clear();
    }
  }
}

/// The sequences of trials may repeat in a journal from elsewhere; a title is enough here.
std::vector<std::string> raw_titles(const Journal& journal) {
  std::vector<std::string> titles;
  for (const TrialRecord& trial : journal.trials) titles.push_back(trial.judgement.signature);
  return titles;
}

Journal read_own_journal(const Folder& run) {
  const fs::path file = run.path() / kJournal;
  std::string why;
  if (!run.read(kJournal, 1, &why).has_value()) {
    throw InputError(printable(file.string()), fmt::format("cannot be read: {}", why),
                     "Name the folder of a run, or a report.json with its journal beside it");
  }
  if (fs::file_size(file) > kMostJournalBytes) {
    throw InputError(printable(file.string()), "is larger than 1 GiB",
                     "Run the cells that matter again, into a folder of their own");
  }
  return read_journal(file);
}

std::string folder_of_reproduction(const std::string& raw_title) {
  return "repro-" + slug(raw_title);
}

/// "" where the minimum is of this run's signature and of a build that it ran; else why not.
std::string foreign(const Minimum& minimum, const std::string& raw_title,
                    const Evidence& evidence) {
  if (minimum.signature != raw_title) return "it is of another signature";
  if (minimum.state != MinimumState::complete && minimum.state != MinimumState::stopped) {
    return "the failure did not occur again when it was made";
  }
  const auto same_build = [&](const Arm& arm) {
    return arm.version == minimum.build.version && arm.git_hash == minimum.build.git_hash &&
           (arm.build_id.empty() || minimum.build.build_id.empty() ||
            arm.build_id == minimum.build.build_id);
  };
  const auto& arms = evidence.analysis.arms;
  if (std::none_of(arms.begin(), arms.end(), same_build)) {
    return "it was made with another build of LibTorch than the run";
  }
  return "";
}

bool has_reproduction(const Folder& run, const std::string& folder) {
  const std::vector<std::string> all = run.folders("", kMostRunFolders);
  return std::find(all.begin(), all.end(), folder) != all.end();
}

/// The programs in the forms that `repro` found. Not those that never failed there.
std::vector<Emission> emit_as_tried(const EmissionRequest& untried,
                                    const std::vector<Proof>& proofs) {
  std::vector<Emission> programs;
  for (Emission& each : emit(untried)) {
    const auto rate = std::find_if(proofs.begin(), proofs.end(), [&](const Proof& proof) {
      return proof.kind == each.kind && proof.arm == ProofArm::rate && proof.tried();
    });
    if (rate == proofs.end()) {
      programs.push_back(std::move(each));
    } else if (rate->program.has_value()) {
      EmissionRequest request = untried;
      request.form = *rate->program;
      for (Emission& tried : emit(request)) {
        if (tried.kind == each.kind) programs.push_back(std::move(tried));
      }
    }
  }
  return programs;
}

class ReproductionReader {
 public:
  ReproductionReader(const Folder& run, std::string folder, Redactor& redactor,
                     Reproduction& result)
      : run_(run), folder_(std::move(folder)), redactor_(redactor), result_(result) {}

  /// As it was measured.
  bool minimum(const std::string& raw_title, const Evidence& evidence) {
    result_.minimum = read("minimum.json", minimum_from_json);
    if (!result_.minimum.has_value()) return false;
    const std::string reason = foreign(*result_.minimum, raw_title, evidence);
    if (reason.empty()) return true;
    leave("minimum.json", reason);
    result_.minimum.reset();
    return false;
  }

  /// Programs as mpsprobe writes them for the cell. `repro` wrote and tried the same ones where its
  /// files have not been changed since; a changed one is a file of the user's own.
  bool are_of_this_version(const std::vector<Emission>& emitted) {
    for (const Emission& program : emitted) {
      for (const EmittedFile& file : program.files) {
        std::string why = "it is another one than mpsprobe writes for this cell";
        const std::string name = fmt::format("programs/{}/{}", name_of(program.kind), file.name);
        const auto there = run_.read(folder_ + "/" + name, kMostProgramBytes, &why);
        if (there.has_value() && without_title(there->bytes) == without_title(file.text)) continue;
        leave(name, why);
        return false;
      }
    }
    return true;
  }

  /// Of --no-redact: all files, as they are.
  void take_programs_as_they_are() {
    for (const Kind kind :
         {Kind::metal, Kind::libtorch, Kind::python, Kind::mlx, Kind::mlx_python}) {
      Emission program{.kind = kind, .files = files_of(run_, folder_, kind)};
      if (!program.files.empty()) result_.programs.push_back(std::move(program));
    }
  }

  void proofs() {
    result_.proofs = read("proofs.json", read_proofs).value_or(std::vector<Proof>{});
    for (Proof& line : result_.proofs) {
      for (std::string* text : {&line.what, &line.problem}) {
        *text = shortened(printable(redactor_.text(*text)), 1000);
      }
    }
  }

  /// The program first.
  static std::vector<EmittedFile> files_of(const Folder& run, const std::string& folder,
                                           Kind kind) {
    std::vector<EmittedFile> files;
    const std::string place = fmt::format("{}/programs/{}", folder, name_of(kind));
    for (const std::string& name : run.files(place, kMostProgramFiles)) {
      const auto file = run.read(place + "/" + name, kMostProgramBytes);
      if (!file.has_value() || file->size > kMostProgramBytes) continue;
      files.push_back({safe_file_name(name), printable(file->bytes, Lines::keep)});
    }
    std::stable_partition(files.begin(), files.end(), [](const EmittedFile& file) {
      return file.name.starts_with("reproducer.");
    });
    return files;
  }

  /// A record of the folder; says why where it is not taken.
  template <typename Value>
  std::optional<Value> read(const std::string& name, Value (*parsed)(const json&)) {
    std::string why;
    const auto file = run_.read(folder_ + "/" + name, kMostRecordBytes + 1, &why);
    try {
      if (file.has_value() && file->size > kMostRecordBytes) {
        why = "it is too large";
      } else if (file.has_value() && nested_deeper(file->bytes, kMostRecordDepth)) {
        why = "it is nested too deep";
      } else if (file.has_value()) {
        return parsed(parsed_json(file->bytes));
      }
    } catch (const std::exception& error) {
      why = shown(redactor_.text(error.what()));
    }
    if (file.has_value() || has_reproduction(run_, folder_)) leave(name, why);
    return std::nullopt;
  }

 private:
  void leave(const std::string& what, const std::string& why) {
    result_.not_taken.push_back(
        fmt::format("{} of the folder of `mpsprobe repro` was not taken: {}", what, why));
  }

  /// The first line of a program says how the failure is called.
  static std::string_view without_title(std::string_view text) {
    return text.substr(std::min(text.find('\n'), text.size()));
  }

  const Folder& run_;
  std::string folder_;
  Redactor& redactor_;
  Reproduction& result_;
};

}  // namespace

fs::path folder_of_run(const fs::path& report) {
  std::error_code error;
  if (fs::is_directory(report, error)) return report;
  if (!fs::exists(report, error)) {
    throw InputError(printable(report.string()), "does not exist",
                     "Name the folder of a run, or its report.json");
  }
  return report.has_parent_path() ? report.parent_path() : fs::path(".");
}

Evidence read_evidence(const fs::path& folder, Redactor& redactor, bool with_output) {
  const Folder run(folder);
  Evidence evidence;
  evidence.folder = folder;
  evidence.journal = read_own_journal(run);
  evidence.own_code = !own_code_in(evidence.journal.header.environment).empty();
  const std::vector<std::string> raw = raw_titles(evidence.journal);
  forget_report_files(evidence.journal);
  if (redactor.enabled()) add_software(evidence.journal, redactor);
  const DeviceKinds kinds = device_kinds(evidence.journal);
  evidence.output = redact_journal(evidence.journal, redactor, with_output);
  evidence.analysis = analyse(evidence.journal);
  // Whatever is taken out of it, what was simulated stays so.
  evidence.analysis.simulated = evidence.analysis.simulated || kinds.simulated;
  evidence.analysis.paravirtual = evidence.analysis.paravirtual || kinds.paravirtual;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (!raw[i].empty()) evidence.titles[raw[i]] = evidence.journal.trials[i].judgement.signature;
  }
  return evidence;
}

bool has_reproduction(const Evidence& evidence, const std::string& raw_title) {
  return has_reproduction(Folder(evidence.folder), folder_of_reproduction(raw_title));
}

OwnPrograms read_own_code(const fs::path& folder) {
  OwnPrograms code;
  const Folder run(folder);
  for (const std::string& name : run.folders("", kMostRunFolders)) {
    Reproduction found;
    Redactor as_it_is(false);
    ReproductionReader reader(run, name, as_it_is, found);
    const auto minimum = reader.read("minimum.json", minimum_from_json);
    if (!minimum.has_value() || own_code_in(minimum->environment).empty()) continue;
    OwnProgram program{minimum->cell.op, ReproductionReader::files_of(run, name, Kind::python)};
    if (!program.files.empty()) code[minimum->signature] = std::move(program);
  }
  return code;
}

Reproduction read_reproduction(const BundleFinding& finding, const fs::path& programs,
                               const OwnPrograms& code, Redactor& redactor) {
  const Evidence& evidence = *finding.evidence;
  const std::string& raw_title = finding.raw_title;
  const std::string& title = finding.group->title;
  const CellSummary& smallest = *finding.smallest().summary;
  const Folder run(evidence.folder);
  Reproduction result;
  result.cell = smallest.cell;
  ReproductionReader reader(run, folder_of_reproduction(raw_title), redactor, result);
  bool own_code = evidence.own_code;
  if (reader.minimum(raw_title, evidence)) {
    result.minimised = true;
    own_code = own_code || !own_code_in(result.minimum->environment).empty();
    redact_minimum(*result.minimum, redactor);
    result.minimum->signature = title;
    result.minimum->rerun.clear();  // of this machine: a bundle has a command of its own
    result.cell = result.minimum->cell;
  }
  if (smallest.cell.backend == Backend::command) {
    result.needs_code = true;
    return result;
  }
  if (result.minimised) reader.proofs();
  if (result.minimised && !redactor.enabled()) {
    reader.take_programs_as_they_are();
  } else if (own_code) {
    if (const auto own = code.find(raw_title); own != code.end() && result.minimised) {
      result.programs.push_back(
          {.kind = Kind::python, .files = own->second.files, .run = "python3 reproducer.py"});
      return result;
    }
    result.needs_code = true;
    return result;
  }
  if (programs.empty() || !result.programs.empty()) return result;
  const Judgement& judgement = finding.group->first.judgement;
  EmissionRequest request{
      .cell = result.cell,
      .signature = title,
      .outcome = judgement.outcome,
      .watermark =
          finding.simulated ? simulated_watermark(result.cell, evidence.analysis.own_mps_code) : "",
      .at_end = judgement.phase >= Phase::teardown,
      .programs = programs};
  if (result.proofs.empty()) {
    request.form.attempts =
        attempts_for(static_cast<double>(finding.smallest().failures) / smallest.counted);
  }
  try {
    result.programs = emit_as_tried(request, result.proofs);
  } catch (const InputError& error) {
    result.not_taken.push_back(fmt::format("no program was made: {}", shown(error.what())));
    return result;
  }
  if (!result.proofs.empty() && !reader.are_of_this_version(result.programs)) result.proofs.clear();
  return result;
}

}  // namespace mpsprobe
