#include "tools/runner/run/event_stream.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/wire/input_error.h"
#include "reports/words/text.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

constexpr int kEventsVersion = 1;

std::string line_of(const ordered_json& event) {
  return event.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

EventStream::EventStream(const std::optional<std::string>& file, bool goes_on) {
  if (!file.has_value()) return;
  name_ = *file;
  struct stat status {};
  const bool holds_something =
      stat(name_.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  if (holds_something && !goes_on) {
    throw InputError("--events " + printable(name_), "holds something already",
                     "Name a new file: nothing is replaced");
  }
  file_.reset(std::fopen(name_.c_str(), "ae"));
  if (file_ == nullptr) {
    throw InputError("--events " + printable(name_),
                     std::string("cannot be opened: ") + std::strerror(errno),
                     "Name a file that can be written");
  }
}

void EventStream::start(const CampaignHeader& header, const std::filesystem::path& folder,
                        bool goes_on) {
  if (file_ == nullptr) return;
  ordered_json workers = ordered_json::array();
  for (const WorkerInfo& worker : header.workers) {
    workers.push_back({{"name", worker.name}, {"path", worker.path}});
  }
  write(line_of({{"event", "start"},
                 {"mpsprobe_events", kEventsVersion},
                 {"mpsprobe_version", header.mpsprobe_version},
                 {"folder", folder.string()},
                 {"goes_on", goes_on},
                 {"matrix", header.matrix_name},
                 {"cells", header.cells.size()},
                 {"trials", header.trials},
                 {"seed", std::to_string(header.seed)},
                 {"workers", std::move(workers)}}));
}

void EventStream::trial(const TrialRecord& trial, const Progress& progress) {
  if (file_ == nullptr) return;
  const Judgement& judgement = trial.judgement;
  write(line_of({{"event", "trial"},
                 {"worker", trial.worker},
                 {"cell", to_string(trial.cell)},
                 {"trial", trial.trial},
                 {"attempt", trial.attempt},
                 {"started", trial.started},
                 {"seconds", trial.seconds},
                 {"outcome", name_of(judgement.outcome)},
                 {"detail", judgement.detail},
                 {"signature", judgement.signature},
                 {"done", progress.done},
                 {"planned", progress.planned},
                 {"failures", progress.failures}}));
}

void EventStream::end(const CampaignEnd& end, const Analysis& analysis) {
  if (file_ == nullptr) return;
  write(line_of({{"event", "end"},
                 {"reason", end.reason},
                 {"ended", end.ended},
                 {"complete", analysis.complete},
                 {"simulated", analysis.simulated},
                 {"counted", analysis.counted},
                 {"failures", analysis.failures},
                 {"answer", {{"code", analysis.answer.code}, {"text", analysis.answer.text}}}}));
}

void EventStream::write(const std::string& line) {
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() &&
                       std::fflush(file_.get()) == 0;
  if (written) return;
  say(stderr, "mpsprobe: --events {}: cannot be written any more: {}. The run goes on without\n",
      printable(name_), std::strerror(errno));
  file_.reset();
}

}  // namespace mpsprobe
