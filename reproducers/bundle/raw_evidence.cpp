#include "reproducers/bundle/raw_evidence.h"

#include <fmt/format.h>

#include <set>

#include "harness/journal/trial_json.h"
#include "reports/words/safe_text.h"
#include "reports/words/stack_words.h"
#include "reports/writers/json.h"
#include "reproducers/bundle/pages/bundle_words.h"
#include "reproducers/bundle/redaction/redact_journal.h"

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostRawFrames = 200;

ordered_json marked(const BundleFinding& finding) {
  ordered_json json{{"simulated", finding.simulated}, {"paravirtual", finding.paravirtual}};
  if (!finding.watermark.empty()) json["watermark"] = finding.watermark;
  return json;
}

std::string line_of(const nlohmann::json& json) {
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string stack_text(const BundleFinding& finding, const TrialRecord& trial) {
  std::string text = finding.watermark.empty() ? "" : finding.watermark + "\n\n";
  text += fmt::format(
      "cell      {}\nworker    {}\ntrial     {}\nstarted   {}\noutcome   {}\n"
      "signature {}\n",
      to_string(trial.cell), printable(trial.worker), trial.trial, printable(trial.started),
      outcome_in_words(trial.judgement), printable(trial.judgement.signature));
  for (const ProcessRecord& process : trial.processes) {
    if (process.stacks.threads.empty()) continue;
    text += fmt::format("\nprocess {}\n", process.process);
    if (const std::string cycle = lock_cycle_in_words(process.stacks); !cycle.empty()) {
      text += cycle + "\n";
    }
    for (const SharedStack& shared : group_stacks(process.stacks)) {
      const bool faulting = shared.threads.front()->faulting;
      text += fmt::format("\n{}{}:\n{}\n", threads_in_words(shared.threads),
                          faulting ? ", the faulting one" : "",
                          stack_in_words(shared.threads.front()->frames, kMostRawFrames));
    }
    for (const std::string& wait : waits_in_words(process.stacks)) text += wait + "\n";
  }
  return cut_in_the_middle(text, kMostStackBytes, 0);
}

bool has_stacks(const TrialRecord& trial) {
  for (const ProcessRecord& process : trial.processes) {
    if (!process.stacks.threads.empty()) return true;
  }
  return false;
}

}  // namespace

std::string system_json(const BundleFinding& finding) {
  ordered_json json = marked(finding);
  json["machine"] = finding.evidence->journal.header.machine;
  ordered_json builds = ordered_json::array();
  for (const Arm& arm : finding.evidence->analysis.arms) {
    ordered_json build{
        {"worker", arm.worker},   {"proved", arm.proved},     {"library_name", arm.library_name},
        {"version", arm.version}, {"git_hash", arm.git_hash}, {"build_id", arm.build_id},
        {"stream_pool", nullptr}, {"devices", arm.devices}};
    if (arm.stream_pool) build["stream_pool"] = *arm.stream_pool;
    builds.push_back(std::move(build));
  }
  json["builds"] = std::move(builds);
  return json_text(json);
}

std::string provenance_json(const BundleFinding& finding) {
  const Journal& journal = finding.evidence->journal;
  std::set<std::string> provenances;
  std::set<std::string> sets;
  for (const TrialRecord* trial : finding.trials) {
    for (const ProcessRecord& process : trial->processes) {
      if (process.hello) provenances.insert(process.hello->provenance);
      sets.insert(process.image_set);
    }
  }
  ordered_json json = marked(finding);
  ordered_json workers = ordered_json::array();
  for (const WorkerInfo& worker : journal.header.workers) {
    workers.push_back(
        {{"name", worker.name}, {"path", worker.path}, {"describe", worker.describe}});
  }
  json["run"] = {{"mpsprobe_version", journal.header.mpsprobe_version},
                 {"started", journal.header.started},
                 {"command_line", journal.header.command_line},
                 {"environment", journal.header.environment},
                 {"seed", std::to_string(journal.header.seed)},
                 {"trials", journal.header.trials},
                 {"timeout_seconds", journal.header.timeout_seconds},
                 {"stall_seconds", journal.header.stall_seconds},
                 {"matrix", journal.header.matrix_name}};
  json["workers"] = std::move(workers);
  json["provenances"] = ordered_json::object();
  for (const auto& [id, provenance] : journal.provenances) {
    if (provenances.contains(id)) json["provenances"][id] = provenance;
  }
  json["image_sets"] = ordered_json::object();
  for (const auto& [id, images] : journal.image_sets) {
    if (!sets.contains(id)) continue;
    ordered_json list = ordered_json::array();
    for (const ImageSeen& image : images) list.push_back({{"path", image.path}, {"id", image.id}});
    json["image_sets"][id] = std::move(list);
  }
  return json_text(json);
}

std::string trials_ndjson(const BundleFinding& finding) {
  std::string lines;
  size_t reduced = 0;
  size_t left_out = 0;
  for (const TrialRecord* trial : finding.trials) {
    nlohmann::json json = trial_to_json(*trial);
    json["record"] = "trial";
    std::string line = line_of(json);
    if (lines.size() + line.size() > kMostTrialsBytes) {
      json["processes"] = nullptr;
      line = line_of(json);
      ++reduced;
    }
    if (lines.size() + line.size() > kMostTrialsBytes + kMostTrialsBytes / 2) {
      ++left_out;
      continue;
    }
    lines += line;
  }
  nlohmann::json first{{"record", "contents"},
                       {"signature", finding.group->title},
                       {"trials", finding.trials.size()},
                       {"without_processes_for_size", reduced - left_out},
                       {"left_out_for_size", left_out},
                       {"simulated", finding.simulated}};
  if (!finding.watermark.empty()) first["watermark"] = finding.watermark;
  return line_of(first) + lines;
}

std::vector<BundleFile> stack_files(const BundleFinding& finding) {
  std::vector<BundleFile> files;
  for (const TrialRecord* trial : finding.failed) {
    if (files.size() == kMostStackFiles) break;
    if (!has_stacks(*trial)) continue;
    files.push_back({fmt::format("stacks/{:02}-trial-{}.txt", files.size() + 1, trial->sequence),
                     stack_text(finding, *trial)});
  }
  return files;
}

std::vector<BundleFile> crash_report_files(const BundleFinding& finding) {
  std::vector<BundleFile> files;
  std::set<std::string> taken;
  size_t bytes = 0;
  const auto take = [&](const std::string& name) {
    const auto report = finding.evidence->reports.find(name);
    if (report == finding.evidence->reports.end() || files.size() == kMostCrashReports ||
        bytes + report->second.bytes.size() > kMostCrashReportBytes || !taken.insert(name).second) {
      return;
    }
    bytes += report->second.bytes.size();
    files.push_back({name, report->second.bytes});
  };
  for (const TrialRecord* trial : finding.failed) {
    for (const ProcessRecord& process : trial->processes) {
      if (process.crash_report) take(process.crash_report->file);
      for (const GpuEvent& event : process.gpu_events) take(event.file);
    }
  }
  return files;
}

}  // namespace mpsprobe
