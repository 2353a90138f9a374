#include "harness/input/json_text.h"
#include "harness/journal/trial_json.h"
#include "reproducers/bundle/pages/bundle_texts.h"

namespace mpsprobe {
namespace {

std::string line_of(const nlohmann::json& json) {
  return ascii_json_text(json) + "\n";
}

}  // namespace

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

}  // namespace mpsprobe
