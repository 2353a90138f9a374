#include "tools/runner/run/event_stream.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

constexpr std::chrono::milliseconds kPatience{2000};  // with a reader who is behind, at the end

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

/// An event as a line of --events, with its newline: JSON, ASCII, by
/// reports/schema/events.schema.json.
std::string event_line(const RunEvent& event) {
  return line_of(std::visit([](const auto& each) { return event_json(each); }, event));
}

/// The line that stands where `count` events were dropped.
std::string missed_line(size_t count) {
  return line_of({{"event", "missed"}, {"count", count}});
}

}  // namespace

EventStream::EventStream(const std::optional<std::string>& file, bool goes_on) {
  if (!file.has_value()) return;
  name_ = "--events " + printable(*file);
  struct stat status {};
  const bool holds_something =
      stat(file->c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  if (holds_something && !goes_on) {
    throw InputError(name_, "holds something already", "Name a new file: nothing is replaced");
  }
  writer_ = std::make_unique<LineWriter>("--events", *file);
  if (writer_->has_reader()) return;
  say(stderr, "mpsprobe: {}: nobody reads this pipe yet; events are kept for who comes\n", name_);
}

EventStream::~EventStream() {
  if (writer_ == nullptr) return;
  lost_ += writer_->finish(kPatience);
  if (lost_ == 0) return;
  say(stderr, "mpsprobe: {}: {} events were not taken by any reader in time, and are missing\n",
      name_, lost_);
}

void EventStream::on(const RunEvent& event) {
  if (writer_ == nullptr) return;
  // The answer is worth a wait, beyond all others.
  if (missed_ > 0 && std::holds_alternative<RunEnded>(event)) writer_->finish(kPatience);
  if (missed_ > 0 && writer_->write(missed_line(missed_))) missed_ = 0;
  if (missed_ == 0 && writer_->write(event_line(event))) return;
  if (!writer_->broken().empty()) {
    say(stderr, "mpsprobe: {}: cannot be written any more: {}. The run goes on without\n", name_,
        writer_->broken());
    writer_.reset();
    return;
  }
  if (lost_ == 0) {
    say(stderr, "mpsprobe: {}: its reader is behind; events are dropped and counted\n", name_);
  }
  ++missed_;
  ++lost_;
}

}  // namespace mpsprobe
