#include "harness/process/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/platform/memory.h"
#include "harness/process/child_crashes.h"
#include "harness/process/descendants.h"
#include "harness/stack/process_stack.h"
#include "harness/stack/stack.h"

namespace mpsprobe {
namespace {

constexpr int kTickMs = 10;
constexpr size_t kMostLine = 1 << 20;
constexpr size_t kMostFailures = 64;
constexpr size_t kMostSuspicions = 16;
constexpr size_t kReadBytes = 1 << 18;
// What one pump reads of one stream: a flood must not keep the loop from its other children.
constexpr int kMostReads = 64;
constexpr double kMemoryLookSeconds = 0.02;
constexpr std::chrono::milliseconds kThreadLook{50};
// What counts as computing: this part of a processor, as on an idle machine and on average over the
// time of a stall. 64 threads that wait for an interpreter's lock use 0.12, a look each 1 ms 0.02.
constexpr double kLeastProcessor = 0.2;
// The loop comes round every few milliseconds; a second between two rounds is a suspended runner.
constexpr std::chrono::seconds kSuspended{1};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void set_nonblocking(const Descriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

/// One for a thread, for all that it reads, and on the heap: what is thread-local itself comes off
/// the stack of every thread, and some have little (`ulimit -s`).
std::span<char> read_buffer() {
  thread_local std::vector<char> buffer(kReadBytes);
  return buffer;
}

/// Calls `take` with each chunk that can be read without waiting; closes at end of file.
template <typename Take>
void drain(Descriptor& descriptor, Take take) {
  const std::span<char> buffer = read_buffer();
  for (int i = 0; i < kMostReads && descriptor.is_open(); ++i) {
    const ssize_t got = read(descriptor.get(), buffer.data(), buffer.size());
    if (got > 0) {
      take(std::string_view(buffer.data(), static_cast<size_t>(got)));
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      descriptor.reset();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

const recorder_layout::Block& block_of(const SharedMemory& memory) {
  return *static_cast<const recorder_layout::Block*>(memory.data());
}

/// Whether the process takes itself apart: tear-down, or its interpreter's end.
bool is_ending(const recorder_layout::Block& block) {
  const uint32_t phase = block.phase.load(std::memory_order_acquire);
  return phase == static_cast<uint32_t>(Phase::teardown) ||
         phase == static_cast<uint32_t>(Phase::finalise);
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments, std::vector<std::string> environment,
             const ChildLimits& limits, Clock::time_point trial_start, const Launch& launch)
    : limits_(limits),
      trial_start_(trial_start),
      started_(Clock::now()),
      last_progress_(started_),
      last_processor_look_(started_),
      last_memory_look_(started_),
      last_pump_(started_),
      launched_at_(wall_clock()),
      begun_at_(launched_at_),
      out_capture_(limits.capture_bytes, limits.notice),
      err_capture_(limits.capture_bytes, limits.notice) {
  try {
    start(arguments, std::move(environment), launch);
  } catch (const std::system_error& error) {
    const int code = error.code().value();
    record_.termination = NotSpawned{
        code, code == EMFILE ? "the limit of open files (ulimit -n) is too low; raise it to 256"
                             : error.what()};
    finished_ = true;
  }
}

Child::~Child() {
  if (finished_ || record_.pid <= 0) return;
  signal_group(SIGKILL);
  waitpid(static_cast<pid_t>(record_.pid), nullptr, 0);
  StartedProcesses().reaped(static_cast<pid_t>(record_.pid));
  end_descendants(mark_);
}

void Child::start(const std::vector<std::string>& arguments, std::vector<std::string> environment,
                  const Launch& launch) {
  memory_ = SharedMemory::create(sizeof(recorder_layout::Block));
  FlightRecorder::initialise(static_cast<recorder_layout::Block*>(memory_->data()));
  memory_kills_before_ = kernel_memory_kills();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe events = make_pipe();
  Pipe gate = make_pipe();
#ifdef F_SETPIPE_SZ
  // A flood then takes a sixteenth of the reads. Best effort: the system may allow less.
  for (const Pipe* pipe : {&out, &err}) fcntl(pipe->read.get(), F_SETPIPE_SZ, 1 << 20);
#endif
  const Descriptor recorder(fcntl(memory_->fd(), F_DUPFD_CLOEXEC, 16));
  if (!recorder.is_open()) {
    throw std::system_error(errno == EINVAL ? EMFILE : errno, std::generic_category(),
                            "duplicate the flight recorder");
  }
  SpawnRequest request;
  request.arguments = arguments;
  mark_ = mark_for_descendants();
  request.environment = std::move(environment);
  request.environment.push_back(mark_);
  request.descriptors = {{out.write.get(), STDOUT_FILENO},
                         {err.write.get(), STDERR_FILENO},
                         {recorder.get(), kRecorderFd},
                         {events.write.get(), kEventsFd},
                         {gate.read.get(), kGateFd}};
  const SpawnResult spawned = launch(request);
  if (spawned.error != 0) {
    throw std::system_error(spawned.error, std::generic_category(), "start " + arguments[0]);
  }
  record_.pid = spawned.pid;
  offer_to_memory_killer(spawned.pid);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  events_ = std::move(events.read);
  gate_ = std::move(gate.write);
  for (const Descriptor* descriptor : {&out_, &err_, &events_}) set_nonblocking(*descriptor);
}

bool Child::begin(const std::string& line, Clock::time_point trial_start) {
  trial_start_ = trial_start;
  started_ = last_progress_ = last_processor_look_ = last_memory_look_ = last_pump_ = Clock::now();
  begun_at_ = wall_clock();
  memory_kills_before_ = kernel_memory_kills();
  pump();
  // It does not read yet where it still loads its library; the pipe has room for the line.
  return !finished_ &&
         write(gate_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

void Child::add_to(std::vector<pollfd>& polled) const {
  if (finished_) return;
  for (const Descriptor* descriptor : {&out_, &err_, &events_}) {
    if (descriptor->is_open()) polled.push_back({descriptor->get(), POLLIN, 0});
  }
}

int Child::patience_ms() const {
  // With its channels closed a process is about to end, and nothing but waiting tells when.
  return events_.is_open() || err_.is_open() ? kTickMs : 1;
}

void Child::pump() {
  if (finished_) return;
  forgive_suspension();
  read_streams();
  // Death first: a process that has ended is not late, whatever the clock says.
  reap_if_dead();
  if (!finished_) enforce_limits();
}

void Child::forgive_suspension() {
  // Ctrl-Z, or a lid that was closed: nobody watched, and the time counts against nobody.
  const Clock::time_point now = Clock::now();
  const Clock::duration gap = now - last_pump_;
  last_pump_ = now;
  if (gap < kSuspended) return;
  started_ += gap;
  last_progress_ += gap;
  if (inquest_begun_.has_value()) *inquest_begun_ += gap;
  if (term_sent_.has_value()) *term_sent_ += gap;
  if (kill_sent_.has_value()) *kill_sent_ += gap;
}

void Child::read_streams() {
  const auto take = [this](CaptureBuffer& capture) {
    return [this, &capture](std::string_view chunk) {
      capture.append(chunk);
      note_progress();
    };
  };
  drain(out_, take(out_capture_));
  drain(err_, take(err_capture_));
  read_events();
}

void Child::read_events() {
  drain(events_, [this](std::string_view chunk) {
    while (!chunk.empty()) {
      const size_t newline = chunk.find('\n');
      const std::string_view part = chunk.substr(0, newline);
      if (line_.size() + part.size() <= kMostLine) {
        line_.append(part);
      } else {
        record_.garbage_bytes += part.size();
        line_too_long_ = true;
      }
      if (newline == std::string_view::npos) return;
      take_line(line_);
      line_.clear();
      line_too_long_ = false;
      chunk.remove_prefix(newline + 1);
    }
  });
}

void Child::take_line(std::string_view line) {
  const std::optional<Event> event = line_too_long_ ? std::nullopt : parse_event(line);
  if (event.has_value()) note_progress();  // garbage is no progress
  if (!event.has_value()) {
    record_.garbage_bytes += line.size() + 1;
  } else if (const auto* hello = std::get_if<HelloEvent>(&*event)) {
    if (record_.hello.has_value()) return;
    record_.hello = *hello;
    record_.own_command = is_own_command(*hello);
  } else if (std::holds_alternative<ReadyEvent>(*event)) {
    if (!record_.ready) record_.ready_seconds = seconds_since(started_);
    record_.ready = true;
  } else if (const auto* failure = std::get_if<FailureEvent>(&*event)) {
    if (record_.failures.empty()) record_.failed_at = seconds_since(trial_start_);
    if (record_.failures.size() < kMostFailures) record_.failures.push_back(*failure);
  } else if (const auto* result = std::get_if<ResultEvent>(&*event)) {
    if (!record_.result.has_value()) record_.result = *result;
  } else if (const auto* observed = std::get_if<ObservedEvent>(&*event)) {
    take_observed(*observed);
  }
}

void Child::take_observed(const ObservedEvent& observed) {
  Observation& all =
      record_.observation.has_value() ? *record_.observation : record_.observation.emplace();
  all.calls = std::max(all.calls, observed.calls);
  if (!observed.suspicion.empty() && all.suspicions.size() < kMostSuspicions) {
    all.suspicions.push_back(observed.suspicion);
  }
}

void Child::enforce_limits() {
  const Clock::time_point now = Clock::now();
  const uint64_t progress = read_progress(block_of(*memory_));
  if (std::exchange(progress_, progress) != progress) note_progress();
  if (kill_sent_.has_value()) {
    if (seconds_since(*kill_sent_) > limits_.reap) {
      record_.termination = NotReaped{};
      reap();
    }
    return;
  }
  if (term_sent_.has_value()) {
    if (seconds_since(*term_sent_) > limits_.grace) {
      signal_group(SIGKILL);
      record_.stop_signals += " KILL";
      kill_sent_ = now;
    }
    return;
  }
  if (limits_.memory_bytes > 0 && seconds_since(last_memory_look_) > kMemoryLookSeconds) {
    last_memory_look_ = now;
    if (held_bytes(static_cast<pid_t>(record_.pid)) > limits_.memory_bytes) {
      return end(EndedBy::memory_limit);
    }
  }
  if (inquest_begun_.has_value()) {
    const bool done = read_inquest(block_of(*memory_)) == Inquest::done;
    if (done || seconds_since(*inquest_begun_) > limits_.inquest) terminate();
    return;
  }
  look_at_threads(now);
  look_at_processor(now);
  if (seconds_since(started_) > limits_.timeout) {
    // One that only waits at the gate is late because of the others.
    return end(record_.ready && !past_gate_ ? EndedBy::cancelled : EndedBy::deadline);
  }
  // Waiting at the gate is no stall, and loading a large library for the first time is none either.
  if (!past_gate_ || seconds_since(last_progress_) <= limits_.stall) return;
  // One that has ended has done all it could: on a busy machine the system may take long to free
  // its memory. The deadline still holds, for a device that never lets go.
  if (!is_exiting(static_cast<pid_t>(record_.pid))) end(EndedBy::no_progress);
}

/// A process that takes itself apart gets on where it has fewer threads than ever before: a library
/// that joins thousands of them notes nothing meanwhile, and on a busy machine that takes long.
void Child::look_at_threads(Clock::time_point now) {
  if (!is_ending(block_of(*memory_)) || now - last_thread_look_ < kThreadLook) return;
  last_thread_look_ = now;
  const int threads = thread_count(static_cast<pid_t>(record_.pid));
  if (threads > 0 && threads < fewest_threads_) note_progress();
  if (threads > 0 && (fewest_threads_ == 0 || threads < fewest_threads_)) fewest_threads_ = threads;
}

/// What computes gets on, however long one call of it takes. Of a process that takes itself apart
/// that is its main thread: with end=exit the others go on, and hide that it gets stuck.
void Child::look_at_processor(Clock::time_point now) {
  const double interval = std::clamp(limits_.stall / 10, 0.05, 1.0);
  const double window = seconds_since(last_processor_look_);
  if (window < interval) return;
  last_processor_look_ = now;
  const auto pid = static_cast<pid_t>(record_.pid);
  computed_ += processor_use_.look(pid, is_ending(block_of(*memory_))) * window;
  if (computed_ >= kLeastProcessor * limits_.stall) note_progress();
}

/// What it does once it is being ended is none.
void Child::note_progress() {
  if (record_.ended_by != EndedBy::nobody) return;
  last_progress_ = Clock::now();
  computed_ = 0;
}

void Child::open_gate() {
  if (finished_ || past_gate_) return;
  past_gate_ = true;
  last_progress_ = Clock::now();
  // It may have died meanwhile; its record tells. SIGPIPE is ignored by the program.
  if (write(gate_.get(), &kStartByte, 1) < 0) gate_.reset();
}

bool Child::begin_inquest() {
  if (!gate_.is_open()) return false;
  if (read_inquest(block_of(*memory_)) != Inquest::offered) return false;
  // Looked at first: the worker may begin, and crash of it, before the write has returned.
  crashed_before_inquest_ = has_crashed(block_of(*memory_));
  const int by_signal = record_.own_command ? inquest_signal() : 0;
  const bool asked = by_signal != 0 ? kill(static_cast<pid_t>(record_.pid), by_signal) == 0
                                    : write(gate_.get(), &kInquestByte, 1) == 1;
  if (!asked) return false;
  inquest_begun_ = Clock::now();
  return true;
}

/// What it waits for may be another process, which no crash handler of ours tells of.
void Child::look_at_descendants() {
  for (Descendant& descendant : descendants_of(static_cast<pid_t>(record_.pid))) {
    ProcessStack stack = process_stack(descendant.pid, descendant.thread);
    record_.children += (record_.children.empty() ? "" : ", ") + descendant.command + stack.refused;
    if (stack.frames.empty()) continue;
    StackSeen& seen = descendants_.emplace_back();
    seen.thread = kChildProcess;
    seen.thread_id = static_cast<uint64_t>(descendant.thread);
    seen.name = std::move(descendant.name);
    seen.frames = std::move(stack.frames);
  }
}

void Child::end(EndedBy why) {
  if (finished_ || term_sent_.has_value() || kill_sent_.has_value()) return;
  if (inquest_begun_.has_value()) {
    // It hangs, and that stays the reason; only the user need not wait for the rest.
    if (why == EndedBy::user) terminate();
    if (why == EndedBy::memory_limit) kill_at_once();
    return;
  }
  const bool hangs = why == EndedBy::no_progress || why == EndedBy::deadline;
  record_.idle_seconds = seconds_since(last_progress_);
  record_.ended_by = why;
  if (hangs) look_at_descendants();
  if (why == EndedBy::memory_limit) return kill_at_once();
  if (!hangs || !begin_inquest()) terminate();
}

void Child::kill_at_once() {
  // Every moment of grace costs the machine more memory.
  record_.stop_signals = "KILL";
  signal_group(SIGKILL);
  kill_sent_ = Clock::now();
}

void Child::terminate() {
  record_.stop_signals = "TERM";
  signal_group(SIGTERM);
  signal_group(SIGCONT);  // a stopped process takes the SIGTERM only once it goes on
  term_sent_ = Clock::now();
}

void Child::reap_if_dead() {
  if (finished_) return;
  siginfo_t info{};
  const auto pid = static_cast<id_t>(record_.pid);
  // WNOWAIT: while the dead leader is not reaped, no other process can get its number, and a signal
  // to the group can reach nobody else.
  if (waitid(P_PID, pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0) {
    if (errno == ECHILD) {
      // Somebody else took its status; its number may be another's already.
      record_.termination = NotSpawned{ECHILD, "its status was lost"};
      reap();
    }
    return;
  }
  if (info.si_pid == 0) return;
  const bool ended =
      info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
  if (ended) {
    record_.termination = Exited{};
    reap();
  } else {
    record_.was_stopped = true;  // by SIGSTOP and the like, or under a debugger
  }
}

void Child::reap() {
  const auto pid = static_cast<pid_t>(record_.pid);
  const bool given_up = !std::holds_alternative<Exited>(record_.termination);
  record_.seconds = seconds_since(started_);
  if (record_.ended_by == EndedBy::nobody) record_.idle_seconds = seconds_since(last_progress_);
  record_.ended_at = seconds_since(trial_start_);
  if (!given_up) {
    record_.left_descendants = others_in_group(pid);
    signal_group(SIGKILL);  // what it left behind in its group
    int status = 0;
    rusage usage{};
    pid_t reaped = 0;
    do {
      reaped = wait4(pid, &status, 0, &usage);
    } while (reaped < 0 && errno == EINTR);
    record_.termination = termination_from_status(status);
    record_.usage = {seconds_of(usage.ru_utime), seconds_of(usage.ru_stime),
                     max_rss_bytes(usage.ru_maxrss)};
    if (kill(-pid, 0) == 0) record_.left_descendants = true;
    StartedProcesses().reaped(pid);
    if (end_descendants(mark_) > 0) record_.left_descendants = true;
  }
  record_.kernel_memory_kill = kernel_memory_kills() > memory_kills_before_;
  read_streams();
  // All its own ends are closed: a stream that is still open is held by a descendant elsewhere.
  if (!given_up && (out_.is_open() || err_.is_open() || events_.is_open())) {
    record_.left_descendants = true;
  }
  if (!line_.empty()) take_line(line_);  // it died in the middle of a line
  record_.recorder = read_recorder(block_of(*memory_));
  std::move(descendants_.begin(), descendants_.end(), std::back_inserter(record_.recorder.stacks));
  if (record_.own_command) child_crashes_ = mpsprobe::take_child_crashes(mark_);
  record_.crashed_in_inquest =
      inquest_begun_.has_value() && !crashed_before_inquest_ && record_.recorder.crash.signal != 0;
  record_.out = out_capture_.take();
  record_.err = err_capture_.take();
  close_channels();
  finished_ = true;
}

void Child::close_channels() {
  for (Descriptor* descriptor : {&out_, &err_, &events_, &gate_}) descriptor->reset();
  memory_.reset();
}

void Child::signal_group(int signal) const {
  const auto pid = static_cast<pid_t>(record_.pid);
  kill(-pid, signal);
  kill(pid,
       signal);  // it may have left its group; it is not reaped, so the number is still its own
}

double Child::seconds_since(Clock::time_point when) const {
  return std::chrono::duration<double>(Clock::now() - when).count();
}

std::vector<RecorderReading> Child::take_child_crashes() {
  return std::move(child_crashes_);
}

ProcessRecord Child::take_record() {
  return std::move(record_);
}

}  // namespace mpsprobe
