#include "scenarios/evidence/inquest.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <thread>

#include "scenarios/evidence/images.h"
#include "scenarios/evidence/stack_capture.h"
#include "scenarios/evidence/thread_identity.h"

namespace mpsprobe {
namespace {

void set(std::atomic<uint32_t>& field, Inquest stage) {
  field.store(static_cast<uint32_t>(stage), std::memory_order_release);
}
void set(std::atomic<uint32_t>& field, Probe answer) {
  field.store(static_cast<uint32_t>(answer), std::memory_order_release);
}

/// An interpreter that was asked to (faulthandler.register) writes the stacks of its own language
/// to stderr on this signal. Sent to the calling thread, which has no part in the cell, so that
/// what hangs goes on to hang.
void ask_interpreter_for_stacks() {
  struct sigaction action {};
  if (sigaction(SIGUSR2, nullptr, &action) != 0 || action.sa_handler == SIG_DFL ||
      action.sa_handler == SIG_IGN) {
    return;
  }
  raise(SIGUSR2);
}

}  // namespace

void note_images_of_stacks(recorder_layout::Block& block) {
  const uint32_t count = std::min(block.stack_count.load(), recorder_layout::kStacks);
  for (const recorder_layout::StackNote& stack : std::span(block.stacks, count)) {
    note_images_of(block, {stack.frames, stack.frame_count.load()});
  }
}

HangInquest::HangInquest(FlightRecorder& recorder) : recorder_(recorder) {
  int ends[2];
  if (pipe(ends) != 0) throw SetupError("cannot create a pipe for the inquest");
  begin_read_ = ends[0];
  begin_write_ = ends[1];
  std::thread([this] {
    prober_.store(thread_id());
    char byte = 0;
    ssize_t got = 0;
    do {
      got = read(begin_read_, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got == 1) probe();
  }).detach();
  set(recorder_.block()->inquest, Inquest::offered);
}

void HangInquest::hold() {
  set(recorder_.block()->inquest, Inquest::stacks);
  capture_stacks(recorder_, {prober_.load(), 0});
  note_images_of_stacks(*recorder_.block());
  ask_interpreter_for_stacks();
  set(recorder_.block()->inquest, Inquest::probe);
  const char begin = 1;
  if (write(begin_write_, &begin, 1) != 1) set(recorder_.block()->inquest, Inquest::done);
}

void HangInquest::probe() {
  // If it never returns, this is the answer.
  const auto submitted = [this] { set(recorder_.block()->probe, Probe::not_answered); };
  Probe answer = Probe::impossible;
  if (Workload* workload = workload_.load(); workload != nullptr) {
    try {
      answer = workload->probe(submitted);
    } catch (...) {
      answer = Probe::failed;
    }
  }
  set(recorder_.block()->probe, answer);
  set(recorder_.block()->inquest, Inquest::done);
}

}  // namespace mpsprobe
