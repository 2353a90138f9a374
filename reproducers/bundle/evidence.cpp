#include "reproducers/bundle/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/crash_report/report_file.h"
#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "reports/analysis/devices.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/redaction/redact_crash_report.h"
#include "reproducers/bundle/redaction/redact_journal.h"
#include "reproducers/bundle/redaction/software_names.h"
#include "reproducers/minimise/slug.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kJournal = "journal.ndjson";
constexpr uintmax_t kMostJournalBytes = uintmax_t{1} << 30;
constexpr size_t kMostReportBytes = size_t{4} << 20;
constexpr size_t kMostReports = 1000;
constexpr size_t kMostRecordBytes = size_t{4} << 20;  ///< of minimum.json and proofs.json
constexpr int kMostRecordDepth = 32;
constexpr size_t kMostProgramBytes = size_t{256} << 10;
constexpr size_t kMostProgramFiles = 32;
constexpr size_t kMostFolders = 16;

std::string shown(const std::string& text) {
  return shortened(printable(text), 120);
}

/// Gives the reports of all trials their names in the bundle, and returns raw place -> name.
std::map<std::string, std::string> name_reports(Journal& journal, std::set<std::string>& events) {
  std::map<std::string, std::string> names;
  const auto name = [&](std::string& file, const char* what) {
    if (file.empty()) return;
    const auto known = names.find(file);
    if (known == names.end() && names.size() >= kMostReports) {
      file.clear();
      return;
    }
    const bool text = file.ends_with(".crash");
    const std::string given =
        known != names.end()
            ? known->second
            : fmt::format("crash-reports/{}-{}.{}", what, names.size() + 1, text ? "crash" : "ips");
    names[file] = given;
    file = given;
  };
  for (TrialRecord& trial : journal.trials) {
    for (ProcessRecord& process : trial.processes) {
      if (process.crash_report) name(process.crash_report->file, "crash");
      for (GpuEvent& event : process.gpu_events) {
        name(event.file, "gpu-event");
        events.insert(event.file);
      }
    }
  }
  return names;
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

/// Everything in the folders of `repro` is read for names before anything is redacted.
void learn_from_reproduction(const Folder& run, const std::string& folder,
                             PersonalStrings& strings) {
  for (const char* name : {"minimum.json", "proofs.json"}) {
    const auto file = run.read(folder + "/" + name, kMostRecordBytes);
    if (!file.has_value()) continue;
    strings.learn_text(file->bytes);
    if (nested_deeper(file->bytes, kMostRecordDepth)) continue;  // nothing of it is taken
    const json value = json::parse(file->bytes, nullptr, false);
    if (!value.is_discarded()) strings.learn_json(value);
  }
  std::vector<std::string> places{folder + "/programs"};
  for (const std::string& kind : run.folders(places[0], kMostFolders)) {
    places.push_back(places[0] + "/" + kind);
  }
  for (const std::string& place : places) {
    for (const std::string& name : run.files(place, kMostProgramFiles)) {
      if (const auto file = run.read(place + "/" + name, kMostProgramBytes)) {
        strings.learn_text(file->bytes);
      }
    }
  }
}

void redact_minimum(Minimum& minimum, const std::string& title, Redactor& redactor) {
  redactor.at("minimum.json");
  minimum.signature = title;
  for (Cell* cell : {&minimum.start, &minimum.cell}) redactor.cell(*cell);
  for (std::string* text : {&minimum.note, &minimum.worker, &minimum.build.version,
                            &minimum.mpsprobe_version, &minimum.started}) {
    *text = redactor.known(*text, Names::words);
  }
  for (std::string* id : {&minimum.build.git_hash, &minimum.build.build_id}) {
    *id = redactor.build_id(*id);
  }
  minimum.worker_path = redactor.path(minimum.worker_path);
  for (std::string& variable : minimum.environment) variable = redactor.variable(variable);
  minimum.rerun.clear();  // paths and variables of this machine: a bundle has a command of its own
  for (Reduction& step : minimum.steps) {
    redactor.cell(step.cell);
    step.change = redactor.known(step.change, Names::words);
    step.reason = redactor.known(step.reason, Names::words);
  }
  for (Condition& condition : minimum.conditions) {
    redactor.cell(condition.cell);
    condition.change = redactor.known(condition.change, Names::words);
    condition.skipped = redactor.known(condition.skipped, Names::words);
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

class ReproductionReader {
 public:
  ReproductionReader(const Folder& run, std::string folder, Redactor& redactor,
                     Reproduction& result)
      : run_(run), folder_(std::move(folder)), redactor_(redactor), result_(result) {}

  bool minimum(const std::string& raw_title, const std::string& title, const Evidence& evidence) {
    std::string why;
    const auto file = run_.read(folder_ + "/minimum.json", kMostRecordBytes + 1, &why);
    if (!file.has_value()) {
      if (!run_.folders("", kMostReports).empty() && has_folder()) leave("minimum.json", why);
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
      return leave("minimum.json", shown(redactor_.known(error.what(), Names::words)));
    }
  }

  void programs(const std::string& raw_title, const std::string& title) {
    redactor_.at("programs");
    raw_title_ = raw_title;
    title_ = title;
    size_t left = kMostProgramFiles;
    for (const std::string& kind : run_.folders(folder_ + "/programs", kMostFolders)) {
      Program program;
      program.kind = safe_file_name(redactor_.known(kind, Names::words));
      for (const std::string& name : run_.files(folder_ + "/programs/" + kind, kMostProgramFiles)) {
        if (left == 0) break;
        if (add(program, "programs/" + kind + "/" + name, name)) --left;
      }
      if (!program.files.empty()) result_.programs.push_back(std::move(program));
    }
    Program loose;
    loose.kind = "others";
    for (const std::string& name : run_.files(folder_ + "/programs", left)) {
      add(loose, "programs/" + name, name);
    }
    if (!loose.files.empty()) result_.programs.push_back(std::move(loose));
  }

  void proofs(const ProgramSource& source) {
    std::string why;
    const auto file = run_.read(folder_ + "/proofs.json", kMostRecordBytes, &why);
    if (!file.has_value() || !source.read_proofs) {
      leave("proofs.json", file.has_value() ? "nothing here reads it" : why);
      return;
    }
    redactor_.at("proofs.json");
    if (nested_deeper(file->bytes, kMostRecordDepth)) {
      leave("proofs.json", "it is nested too deep");
      return;
    }
    try {
      result_.proofs = source.read_proofs(json::parse(file->bytes));
    } catch (const std::exception& error) {
      leave("proofs.json", shown(redactor_.known(error.what(), Names::words)));
    }
    for (ProofLine& line : result_.proofs) {
      for (std::string* text :
           {&line.program, &line.arm, &line.what, &line.command, &line.problem}) {
        *text = shortened(printable(redactor_.known(*text, Names::words)), 1000);
      }
    }
  }

 private:
  bool has_folder() const {
    const std::vector<std::string> all = run_.folders("", kMostReports);
    return std::find(all.begin(), all.end(), folder_) != all.end();
  }

  bool leave(const std::string& what, const std::string& why) {
    result_.not_taken.push_back(
        fmt::format("{} of the folder of `mpsprobe repro` was not taken: {}", what, why));
    return false;
  }

  bool add(Program& program, const std::string& place, const std::string& name) {
    std::string why;
    const auto file = run_.read(folder_ + "/" + place, kMostProgramBytes + 1, &why);
    if (file.has_value() && file->size > kMostProgramBytes) why = "it is larger than a program is";
    if (file.has_value() && file->bytes.find('\0') != std::string::npos) why = "it is no text";
    if (!why.empty() || !file.has_value())
      return leave(shown(redactor_.known(place, Names::words)), why);
    const bool known = !redactor_.enabled() || is_known_file(name);
    std::string safe = known ? safe_file_name(redactor_.text(name))
                             : "file" + std::string(ending_of_software(name));
    const auto taken = [&](const BundleFile& other) { return other.path == safe; };
    while (std::any_of(program.files.begin(), program.files.end(), taken)) safe.insert(0, "2-");
    // The one text in a program that is made of what a process said.
    std::string bytes = file->bytes;
    for (size_t at = 0; (at = bytes.find(raw_title_, at)) != std::string::npos;) {
      bytes.replace(at, raw_title_.size(), title_);
      at += title_.size();
    }
    program.files.push_back({safe, printable(redactor_.text(bytes), Lines::keep)});
    return true;
  }

  const Folder& run_;
  std::string folder_;
  Redactor& redactor_;
  Reproduction& result_;
  std::string raw_title_;
  std::string title_;
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

Evidence read_evidence(const fs::path& folder, PersonalStrings& strings, Redactor& redactor,
                       const std::string& watermark_of_simulated) {
  const Folder run(folder);
  Evidence evidence;
  evidence.folder = folder;
  evidence.journal = read_own_journal(run);
  std::set<std::string> events;
  const std::map<std::string, std::string> names = name_reports(evidence.journal, events);
  const std::vector<std::string> raw = raw_titles(evidence.journal);

  learn_from_journal(evidence.journal, strings);
  std::map<std::string, std::string> contents;
  for (const auto& [place, name] : names) {
    std::string why;
    auto file = run.read(place, kMostReportBytes + 1, &why);
    if (file.has_value() && file->size > kMostReportBytes) {
      file.reset();
      why = "it is larger than 4 MiB";
    }
    if (!file.has_value()) {
      evidence.not_taken.push_back(fmt::format("{} was not taken: {}", name, why));
      continue;
    }
    learn_from_crash_report(file->bytes, strings);
    contents[name] = std::move(file->bytes);
  }
  for (const std::string& title : std::set<std::string>(raw.begin(), raw.end())) {
    if (!title.empty()) learn_from_reproduction(run, folder_of_reproduction(title), strings);
  }

  const DeviceKinds kinds = device_kinds(evidence.journal);
  redact_journal(evidence.journal, redactor);
  evidence.analysis = analyse(evidence.journal);
  // Whatever is taken out of it, what was simulated stays so.
  evidence.analysis.simulated = evidence.analysis.simulated || kinds.simulated;
  evidence.analysis.paravirtual = evidence.analysis.paravirtual || kinds.paravirtual;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (!raw[i].empty()) evidence.titles[raw[i]] = evidence.journal.trials[i].judgement.signature;
  }
  const std::string watermark = evidence.analysis.simulated ? watermark_of_simulated : "";
  for (const auto& [name, bytes] : contents) {
    auto clean = redact_crash_report(bytes, redactor, watermark);
    if (clean.has_value()) {
      evidence.reports[name] = {std::move(*clean), events.contains(name)};
    } else {
      evidence.not_taken.push_back(fmt::format("{} was not taken: it is no crash report", name));
    }
  }
  return evidence;
}

Reproduction read_reproduction(const Evidence& evidence, const std::string& raw_title,
                               const Cell& smallest, const std::string& title, double rate,
                               const ProgramSource& source, const std::string& watermark,
                               Redactor& redactor) {
  const Folder run(evidence.folder);
  Reproduction result;
  result.cell = smallest;
  ReproductionReader reader(run, folder_of_reproduction(raw_title), redactor, result);
  if (!reader.minimum(raw_title, title, evidence)) {
    // Then nothing says whose programs they are.
  } else if (redactor.enabled() && is_of_own_code(result.minimum->environment)) {
    result.not_taken.emplace_back(
        "The programs of `mpsprobe repro` were not taken: they hold code of your own. Whoever may "
        "see it can have them from the run's folder, or in a bundle with --no-redact");
  } else {
    reader.programs(raw_title, title);
    reader.proofs(source);
  }
  if (!source.emit) return result;
  if (result.minimum.has_value() && result.minimum->reliability.trials > 0) {
    const Proportion seen = result.minimum->reliability.proportion();
    rate = static_cast<double>(seen.failures) / seen.trials;
  }
  try {
    std::vector<Program> emitted = source.emit(result.cell, title, watermark, rate);
    if (result.programs.empty()) {
      result.proofs.clear();  // of programs that are not here
      result.programs = std::move(emitted);
      return result;
    }
    for (Program& own : result.programs) {
      const auto same = std::find_if(emitted.begin(), emitted.end(), [&](const Program& program) {
        return program.kind == own.kind;
      });
      if (same == emitted.end()) continue;
      own.build = same->build;
      own.run = same->run;
      own.not_expressed = same->not_expressed;
    }
  } catch (const InputError& error) {
    result.not_taken.push_back(fmt::format("no program was made: {}", shown(error.what())));
  }
  return result;
}

}  // namespace mpsprobe
