#include "reproducers/bundle/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/crash_report/report_file.h"
#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "reports/analysis/devices.h"
#include "reports/words/safe_text.h"
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

void redact_minimum(Minimum& minimum, const std::string& title, Redactor& redactor) {
  minimum.signature = title;
  for (Cell* cell : {&minimum.start, &minimum.cell}) redactor.cell(*cell);
  for (std::string* text : {&minimum.note, &minimum.worker, &minimum.build.version,
                            &minimum.mpsprobe_version, &minimum.started}) {
    *text = redactor.text(*text);
  }
  for (std::string* id : {&minimum.build.git_hash, &minimum.build.build_id}) {
    *id = redactor.build_id(*id);
  }
  minimum.worker_path = redactor.path(minimum.worker_path);
  for (std::string& variable : minimum.environment) variable = redactor.variable(variable);
  minimum.rerun.clear();  // paths and variables of this machine: a bundle has a command of its own
  for (Reduction& step : minimum.steps) {
    redactor.cell(step.cell);
    step.change = redactor.text(step.change);
    step.reason = redactor.text(step.reason);
  }
  for (Condition& condition : minimum.conditions) {
    redactor.cell(condition.cell);
    condition.change = redactor.text(condition.change);
    condition.skipped = redactor.text(condition.skipped);
  }
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

/// By the variables that tell the Python worker whose functions or tests it has
/// (scenarios/python/mpsprobe/worker.py).
bool is_of_own_code(const std::vector<std::string>& environment) {
  return std::any_of(environment.begin(), environment.end(), [](const std::string& variable) {
    return variable.starts_with("MPSPROBE_PYTHON_CODE=") ||
           variable.starts_with("MPSPROBE_PYTEST=");
  });
}

/// Of the failure that has this title; a crash where none has.
Outcome outcome_of(const Journal& journal, const std::string& title) {
  for (const TrialRecord& trial : journal.trials) {
    if (trial.judgement.signature == title) return trial.judgement.outcome;
  }
  return Outcome::signal;
}

/// The programs in the forms that `repro` found. Not those that never failed there.
std::vector<Emission> emit_as_tried(EmissionRequest request, const std::vector<Proof>& proofs) {
  if (!proofs.empty()) request.attempts = EmissionRequest{}.attempts;  // of those not tried
  const EmissionRequest untried = request;
  std::vector<Emission> programs;
  for (Emission& each : emit(untried)) {
    if (each.kind == Kind::mpsprobe) continue;
    const auto rate = std::find_if(proofs.begin(), proofs.end(), [&](const Proof& proof) {
      return proof.kind == each.kind && proof.arm == "rate" && proof.tried();
    });
    if (rate == proofs.end()) {
      programs.push_back(std::move(each));
      continue;
    }
    if (rate->k == 0) continue;
    request.form = rate->form;
    request.attempts = rate->attempts;
    request.seconds = rate->attempts_seconds;
    request.limit = rate->limit;
    for (Emission& tried : emit(request)) {
      if (tried.kind == each.kind) programs.push_back(std::move(tried));
    }
  }
  return programs;
}

class ReproductionReader {
 public:
  ReproductionReader(const Folder& run, std::string folder, Redactor& redactor,
                     Reproduction& result)
      : run_(run), folder_(std::move(folder)), redactor_(redactor), result_(result) {}

  bool minimum(const std::string& raw_title, const std::string& title, const Evidence& evidence) {
    std::string why;
    const auto file = run_.read(folder_ + "/minimum.json", kMostRecordBytes + 1, &why);
    if (!file.has_value()) {
      if (has_folder()) leave("minimum.json", why);
      return false;
    }
    if (file->size > kMostRecordBytes) return leave("minimum.json", "it is too large");
    try {
      if (nested_deeper(file->bytes, kMostRecordDepth)) {
        return leave("minimum.json", "it is nested too deep");
      }
      Minimum minimum = minimum_from_json(json::parse(file->bytes));
      if (const std::string reason = foreign(minimum, raw_title, evidence); !reason.empty()) {
        return leave("minimum.json", reason);
      }
      redact_minimum(minimum, title, redactor_);
      result_.cell = minimum.cell;
      result_.minimised = true;
      result_.minimum = std::move(minimum);
      return true;
    } catch (const std::exception& error) {
      return leave("minimum.json", shown(redactor_.text(error.what())));
    }
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
        return leave(name, why);
      }
    }
    return true;
  }

  /// Of --no-redact: all files, as they are.
  void take_programs_as_they_are() {
    for (const Kind kind :
         {Kind::metal, Kind::libtorch, Kind::python, Kind::mlx, Kind::mlx_python}) {
      Emission program{kind, {}, "", "", {}, ""};
      const std::string folder = folder_ + "/programs/" + std::string(name_of(kind));
      for (const std::string& name : run_.files(folder, kMostProgramFiles)) {
        const auto file = run_.read(folder + "/" + name, kMostProgramBytes);
        if (!file.has_value() || file->size > kMostProgramBytes) continue;
        program.files.push_back({safe_file_name(name), printable(file->bytes, Lines::keep)});
      }
      if (!program.files.empty()) result_.programs.push_back(std::move(program));
    }
  }

  void proofs() {
    std::string why;
    const auto file = run_.read(folder_ + "/proofs.json", kMostRecordBytes, &why);
    if (!file.has_value()) {
      leave("proofs.json", why);
      return;
    }
    if (nested_deeper(file->bytes, kMostRecordDepth)) {
      leave("proofs.json", "it is nested too deep");
      return;
    }
    try {
      result_.proofs = read_proofs(json::parse(file->bytes));
    } catch (const std::exception& error) {
      leave("proofs.json", shown(redactor_.text(error.what())));
    }
    for (Proof& line : result_.proofs) {
      for (std::string* text : {&line.what, &line.command, &line.problem}) {
        *text = shortened(printable(redactor_.text(*text)), 1000);
      }
    }
  }

 private:
  bool has_folder() const {
    const std::vector<std::string> all = run_.folders("", kMostRunFolders);
    return std::find(all.begin(), all.end(), folder_) != all.end();
  }

  bool leave(const std::string& what, const std::string& why) {
    result_.not_taken.push_back(
        fmt::format("{} of the folder of `mpsprobe repro` was not taken: {}", what, why));
    return false;
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

Reproduction read_reproduction(const Evidence& evidence, const std::string& raw_title,
                               const Cell& smallest, const std::string& title, double rate,
                               const fs::path& programs, bool simulated, Redactor& redactor) {
  const Folder run(evidence.folder);
  Reproduction result;
  result.cell = smallest;
  ReproductionReader reader(run, folder_of_reproduction(raw_title), redactor, result);
  const bool minimised = reader.minimum(raw_title, title, evidence);
  if (minimised && !redactor.enabled()) {
    reader.take_programs_as_they_are();
    reader.proofs();
  }
  if (minimised && redactor.enabled() && is_of_own_code(result.minimum->environment)) {
    result.not_taken.emplace_back(
        "The programs of `mpsprobe repro` were not taken: they hold code of your own. Whoever may "
        "see it can have them from the run's folder, or in a bundle with --no-redact");
    return result;
  }
  if (programs.empty() || !result.programs.empty()) return result;
  if (minimised) reader.proofs();
  EmissionRequest request{
      .cell = result.cell,
      .signature = title,
      .outcome = outcome_of(evidence.journal, title),
      .watermark =
          simulated ? simulated_watermark(result.cell, evidence.analysis.own_mps_code) : "",
      .attempts = attempts_for(rate),
      .programs = programs};
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
