#include "tools/runner/run/run_event.h"

#include <nlohmann/json.hpp>

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

constexpr int kEventsVersion = 1;

ordered_json event_json(const RunBegan& event) {
  const CampaignHeader& header = event.header;
  ordered_json workers = ordered_json::array();
  for (const WorkerInfo& worker : header.workers) {
    workers.push_back({{"name", worker.name}, {"path", worker.path}});
  }
  return {{"event", "start"},
          {"mpsprobe_events", kEventsVersion},
          {"mpsprobe_version", header.mpsprobe_version},
          {"folder", event.folder.string()},
          {"goes_on", event.goes_on},
          {"matrix", header.matrix_name},
          {"cells", header.cells.size()},
          {"trials", header.trials},
          {"seed", std::to_string(header.seed)},
          {"workers", std::move(workers)}};
}

ordered_json event_json(const TrialEnded& event) {
  const TrialRecord& trial = event.trial;
  const Judgement& judgement = trial.judgement;
  return {{"event", "trial"},
          {"worker", trial.worker},
          {"cell", to_string(trial.cell)},
          {"trial", trial.trial},
          {"attempt", trial.attempt},
          {"started", trial.started},
          {"seconds", trial.seconds},
          {"outcome", name_of(judgement.outcome)},
          {"detail", judgement.detail},
          {"signature", judgement.signature},
          {"done", event.progress.done},
          {"planned", event.progress.planned},
          {"failures", event.progress.failures}};
}

ordered_json event_json(const RunEnded& event) {
  const Analysis& analysis = event.analysis;
  return {{"event", "end"},
          {"reason", event.end.reason},
          {"ended", event.end.ended},
          {"complete", analysis.complete},
          {"simulated", analysis.simulated},
          {"counted", analysis.counted},
          {"failures", analysis.failures},
          {"answer", {{"code", analysis.answer.code}, {"text", analysis.answer.text}}}};
}

std::string line_of(const ordered_json& event) {
  return event.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string event_line(const RunEvent& event) {
  return line_of(std::visit([](const auto& each) { return event_json(each); }, event));
}

std::string missed_line(size_t count) {
  return line_of({{"event", "missed"}, {"count", count}});
}

}  // namespace mpsprobe
