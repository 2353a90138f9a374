#include "tools/conformance/subject.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "harness/executor/environment.h"
#include "harness/process/command.h"
#include "harness/wire/axis.h"
#include "harness/wire/backend.h"

namespace mpsprobe {
namespace {

using Clock = Child::Clock;
using nlohmann::json;
using recorder_layout::Block;

constexpr double kAnswerSeconds = 60;
constexpr size_t kMostLine = 1 << 20;
constexpr ChildLimits kLimits{.timeout = 60, .stall = 20, .grace = 0.5};

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  return worker_environment(Cell{}, inherited_environment(), more);
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1).substr(0, 300);
}

}  // namespace

Subject::Subject(std::string path) : path_(std::move(path)) {
  const CommandResult answer =
      run_command({path_, "describe"}, kAnswerSeconds, environment_with({}));
  if (answer.timed_out || answer.termination != Termination(Exited{0})) {
    throw std::runtime_error(
        fmt::format("{} describe does not end with exit code 0: {}", path_, last_line(answer.err)));
  }
  describe_ = json::parse(answer.out, nullptr, false);
  if (!describe_.is_object()) {
    throw std::runtime_error(path_ + " describe prints something else than one JSON object");
  }
  operations_ = operations_from(describe_);
}

void Subject::use_backend(Backend backend) {
  backend_ = backend;
  const std::string known_good = describe_.value("known_good", "mm");
  for (const auto& [name, operation] : operations_) {
    const std::vector<std::string>& on = operation.backends;
    const bool here = on.empty() || std::find(on.begin(), on.end(), name_of(backend)) != on.end();
    if (here && (operation_ == nullptr || name == known_good)) operation_ = &operation;
  }
  if (operation_ == nullptr) {
    throw NotSeen(fmt::format("the worker has no operation on the backend {}", name_of(backend)));
  }
}

bool Subject::has_start(std::string_view name) const {
  const json starts = describe_.value("starts", json::array());
  return starts.is_array() && std::find(starts.begin(), starts.end(), name) != starts.end();
}

bool Subject::honours(std::string_view axis) const {
  Cell cell;
  cell.backend = backend_;
  const Axis& row = *find_axis(axis);
  // Any value off the default does.
  const std::string other = row.kind == AxisKind::choice
                                ? std::string(*std::find_if(row.values.begin(), row.values.end(),
                                                            [&row](std::string_view value) {
                                                              return value != row.default_value;
                                                            }))
                                : std::string("2");
  set_axis(cell, row, other);
  return unhonoured_axis(cell, *operation_).empty();
}

Cell Subject::cell(const std::vector<std::pair<std::string, std::string>>& axes) const {
  Cell cell;
  cell.backend = backend_;
  cell.op = operation_->name;
  if (!operation_->paths.empty()) set_axis(cell, *find_axis("path"), operation_->paths.front());
  for (const auto& [name, value] : axes) set_axis(cell, *find_axis(name), value);
  return cell;
}

struct WatchedProcess::Parts {
  Pipe gate = make_pipe();
  Pipe events = make_pipe();  ///< read here, with the keys that no runner reads
  std::string line;
  Seen seen;  ///< what the events told

  void read_events();
  void take_line();
  std::optional<SharedMemory> recorder;
  std::unique_ptr<Child> child;
};

WatchedProcess::WatchedProcess(const Subject& subject, const Request& request)
    : parts_(std::make_unique<Parts>()) {
  const Assignment assignment{to_string(request.cell), request.process, request.iteration,
                              request.seed};
  const bool told_later = request.standby || request.server != nullptr;
  std::vector<std::string> arguments{subject.path()};
  if (told_later) {
    for (const char* word : {"standby", "--backend"}) arguments.emplace_back(word);
    arguments.emplace_back(name_of(request.cell.backend));
  } else {
    arguments.insert(
        arguments.end(),
        {"run", "--cell", assignment.cell, "--process", std::to_string(request.process),
         "--iteration", std::to_string(request.iteration), "--seed", std::to_string(request.seed)});
  }
  const auto launch = [&](SpawnRequest spawned) {
    for (auto& [ours, theirs] : spawned.descriptors) {
      if (theirs == kGateFd) ours = parts_->gate.read.get();
      if (theirs == kEventsFd) ours = parts_->events.write.get();
      if (theirs == kRecorderFd) {
        parts_->recorder = SharedMemory::attach(fcntl(ours, F_DUPFD_CLOEXEC, 16), sizeof(Block));
      }
    }
    if (request.other_layout) static_cast<Block*>(parts_->recorder->data())->version = 1;
    if (request.server == nullptr) return spawn(spawned);
    const std::atomic<bool> never{false};
    const ForkServer::Forked forked = request.server->fork_trial(
        spawned.descriptors, spawned.environment.back(), kAnswerSeconds, never);
    if (forked.pid <= 0) throw NotSeen("its server forks no trial: " + forked.problem);
    return SpawnResult{forked.pid, 0};
  };
  parts_->child = std::make_unique<Child>(arguments, environment_with(request.variables), kLimits,
                                          Clock::now(), launch);
  parts_->gate.read.reset();
  parts_->events.write.reset();
  fcntl(parts_->events.read.get(), F_SETFL, O_NONBLOCK);
  if (told_later) {
    const std::string line = to_line(assignment);
    if (write(parts_->gate.write.get(), line.data(), line.size()) < 0) parts_->gate.write.reset();
  }
}

WatchedProcess::~WatchedProcess() = default;

void WatchedProcess::Parts::read_events() {
  std::array<char, 4096> buffer;
  while (events.read.is_open()) {
    const ssize_t got = read(events.read.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      events.read.reset();
      if (!line.empty()) take_line();  // it died in the middle of a line
      return;
    }
    for (const char c : std::string_view(buffer.data(), static_cast<size_t>(got))) {
      if (c == '\n') {
        take_line();
      } else {
        if (line.size() < kMostLine) line += c;
      }
    }
  }
}

void WatchedProcess::Parts::take_line() {
  const std::optional<Event> event = parse_event(line);
  ProcessRecord& record = seen.record;
  if (!event.has_value()) {
    record.garbage_bytes += line.size() + 1;
  } else if (const auto* hello = std::get_if<HelloEvent>(&*event)) {
    if (!record.hello) record.hello = *hello;
  } else if (std::holds_alternative<ReadyEvent>(*event)) {
    record.ready = true;
  } else if (const auto* failure = std::get_if<FailureEvent>(&*event)) {
    record.failures.push_back(*failure);
  } else if (const auto* result = std::get_if<ResultEvent>(&*event); result && !record.result) {
    record.result = *result;
    const json object = json::parse(line);
    if (object.contains("numbers") && object["numbers"].is_string())
      seen.numbers = object["numbers"];
  }
  line.clear();
}

bool WatchedProcess::ended() const {
  return parts_->child->finished();
}

bool WatchedProcess::wait_until_ready() {
  const bool& ready = parts_->seen.record.ready;
  while (!ended() && !ready) {
    std::vector<pollfd> polled;
    parts_->child->add_to(polled);
    polled.push_back({parts_->events.read.get(), POLLIN, 0});
    poll(polled.data(), static_cast<nfds_t>(polled.size()), parts_->child->patience_ms());
    parts_->read_events();
    parts_->child->pump();
  }
  return ready && !ended();
}

void WatchedProcess::open_gate() {
  parts_->child->open_gate();  // its own, which nobody reads: it counts time from here
  if (parts_->gate.write.is_open() && write(parts_->gate.write.get(), &kStartByte, 1) < 0) {
    hang_up();
  }
}

void WatchedProcess::hang_up() {
  parts_->gate.write.reset();
}

bool WatchedProcess::watch(double seconds, const std::function<bool()>& look) {
  const Clock::time_point until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
  while (!ended() && Clock::now() < until) {
    const Clock::time_point next = Clock::now() + std::chrono::milliseconds(1);
    while (look && Clock::now() < next) {
      if (look()) return ended();
    }
    if (!look) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    parts_->read_events();
    parts_->child->pump();
  }
  return ended();
}

Seen WatchedProcess::end() {
  if (!ended()) parts_->child->end(EndedBy::user);
  while (!ended()) watch(1);
  parts_->read_events();
  Seen seen = std::move(parts_->seen);
  const ProcessRecord told = std::exchange(seen.record, parts_->child->take_record());
  seen.record.hello = told.hello;
  seen.record.ready = told.ready;
  seen.record.failures = told.failures;
  seen.record.result = told.result;
  seen.record.garbage_bytes = told.garbage_bytes;
  if (!parts_->recorder.has_value()) return seen;  // it was never started
  seen.inside = recorder().inside.load();
  for (const recorder_layout::ThreadSlot& slot : recorder().threads) {
    const std::string_view text(slot.operation, recorder_layout::kOperationBytes);
    seen.slots.push_back({slot.place.load() != 0, slot.progress.load(), slot.launches.load(),
                          std::string(text.substr(0, text.find('\0')))});
  }
  return seen;
}

const recorder_layout::Block& WatchedProcess::recorder() const {
  return *static_cast<const Block*>(parts_->recorder->data());
}

Seen run_through(const Subject& subject, const WatchedProcess::Request& request) {
  WatchedProcess process(subject, request);
  if (process.wait_until_ready()) process.open_gate();
  while (!process.ended()) process.watch(1);
  return process.end();
}

std::string what_went_wrong(const ProcessRecord& record) {
  if (const auto* never = std::get_if<NotSpawned>(&record.termination)) {
    return "cannot be started: " + never->what;
  }
  if (record.ended_by != EndedBy::nobody) {
    return record.ready
               ? fmt::format("does not end, in the phase {}", name_of(record.recorder.phase))
               : "neither gets ready nor ends";
  }
  if (const auto* signaled = std::get_if<Signaled>(&record.termination)) {
    return "dies of " + signal_name(signaled->signal);
  }
  if (!record.failures.empty()) {
    const FailureEvent& failure = record.failures.front();
    return fmt::format("reports {}: {}", failure.kind, failure.text);
  }
  if (const auto* exited = std::get_if<Exited>(&record.termination); exited && exited->code != 0) {
    return fmt::format("ends with exit code {}: {}", exited->code, last_line(record.err.text()));
  }
  if (!record.hello) return "sends no hello";
  if (!record.ready) return "ends with exit code 0, and was never ready";
  return record.result ? "" : "ends with exit code 0 and without its result";
}

}  // namespace mpsprobe
