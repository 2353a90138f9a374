#include "tools/runner/run/event_stream.h"

#include <sys/stat.h>

#include "harness/wire/input_error.h"
#include "reports/words/text.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

constexpr std::chrono::milliseconds kPatience{2000};  // with a reader who is behind, at the end

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
