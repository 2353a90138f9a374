#include "reports/evidence_for_tests.h"

#include <signal.h>

#include <string>

namespace mpsprobe {
namespace {

constexpr uint64_t kFirstThreadId = 5000;
constexpr int kMain = static_cast<int>(recorder_layout::kMainThread);

StackFrame sim_frame(uint64_t offset, const std::string& function, const std::string& source,
                     bool inlined = false) {
  return {"libmpsprobe_sim.so", "5105", offset, function, source, inlined};
}

StackFrame system_frame(uint64_t offset, const std::string& function) {
  return {"libc.so.6", "c0de", offset, function, "", false};
}

ThreadStack waiting(int thread, const Wait& wait, std::vector<StackFrame> frames) {
  ThreadStack stack;
  stack.thread = thread;
  stack.thread_id = kFirstThreadId + static_cast<uint64_t>(thread);
  stack.wait = wait;
  stack.frames = std::move(frames);
  return stack;
}

std::vector<StackFrame> locking_frames() {
  return {system_frame(0x8b2e0, "__lll_lock_wait"), system_frame(0x91a10, "pthread_mutex_lock"),
          sim_frame(0x1b0e7, "mpsprobe::sim::Queue::lock()", "metal.cpp:88"),
          sim_frame(0x1a2e8, "mpsprobe::sim::Stream::encode(int)", "stream.cpp:120")};
}

Judgement hang_titled(const std::string& title) {
  Judgement judgement{Outcome::hang, "", title};
  judgement.basis = Basis::frames;
  judgement.phase = Phase::run;
  return judgement;
}

void add_crash(TrialRecord& trial) {
  ProcessRecord& process = trial.processes[0];
  process.stacks = crashed_in_encode();
  process.recorder.images = {{"/opt/mpsprobe/lib/libmpsprobe_sim.so", "5105"}};
  process.image_set = "images-a";
}

void add_hang(TrialRecord& trial, const StackEvidence& stacks, Probe probe) {
  ProcessRecord& process = trial.processes[0];
  process.termination = Signaled{SIGKILL, false};
  process.ended_by = EndedBy::no_progress;
  process.recorder.inquest = Inquest::done;
  process.recorder.probe = probe;
  process.stacks = stacks;
}

}  // namespace

StackEvidence crashed_in_encode() {
  ThreadStack stack;
  stack.thread = 2;
  stack.thread_id = kFirstThreadId + 2;
  stack.faulting = true;
  stack.frames = {
      sim_frame(0x1b0e7, "mpsprobe::sim::Kernel::bind()", "metal.cpp:41", true),
      sim_frame(0x1b0e7, "mpsprobe::sim::Stream::encode(int)", "stream.cpp:120"),
      {"libtorch_cpu.so", "aa11", 0x3c4d5e, "at::native::linear(at::Tensor const&)", "", false},
      {"libtorch_cpu.so", "aa11", 0x1b92264, "", "", false},
      {"", "", 0x7f0012345678, "", "", false}};
  return {{stack}, {}};
}

StackEvidence lock_cycle_of_8() {
  StackEvidence stacks;
  for (int thread = 0; thread < 8; ++thread) {
    const auto next = static_cast<uint64_t>((thread + 1) % 8);
    stacks.threads.push_back(waiting(
        thread, {Wait::Kind::lock, 0x7f00 + next, kFirstThreadId + next, false}, locking_frames()));
    stacks.lock_cycle.push_back(kFirstThreadId + static_cast<uint64_t>(thread));
  }
  stacks.threads.push_back(waiting(kMain, {Wait::Kind::join, 0, 0, false},
                                   {system_frame(0x8e1d0, "__pthread_clockjoin_ex"),
                                    {"mpsprobe-worker", "ee55", 0x600ec,
                                     "mpsprobe::run_threads(int)", "threads.cpp:64", false}}));
  ThreadStack other =
      waiting(-1, {Wait::Kind::sleep, 0, 0, false}, {system_frame(0xd3e10, "clock_nanosleep")});
  other.thread_id = 9000;
  other.name = "pool-0";
  stacks.threads.push_back(other);
  return stacks;
}

StackEvidence lock_of_an_ended_thread() {
  StackEvidence stacks;
  stacks.threads.push_back(waiting(0, {Wait::Kind::lock, 0x7f00, 4711, true}, locking_frames()));
  for (int thread : {1, 2}) {
    stacks.threads.push_back(waiting(thread, {Wait::Kind::condition, 0, 0, false},
                                     {system_frame(0x8c0a0, "pthread_cond_wait")}));
  }
  return stacks;
}

CrashReport crash_report_of_encode() {
  CrashReport report;
  report.file = "evidence/3-0-1F2E.ips";
  report.incident = "1F2E3D4C-0000-0000-0000-00000000A5A5";
  report.bug_type = "309";
  report.pid = 1000;
  report.process = "mpsprobe-worker";
  report.launched = 1769860800.5;
  report.captured = 1769860803.25;
  report.os_version = "macOS 15.1 (24B83)";
  report.model = "Mac16,5";
  report.exception = "EXC_BAD_ACCESS";
  report.signal = "SIGSEGV";
  report.subtype = "KERN_INVALID_ADDRESS at 0x00000000000005c8";
  report.termination_namespace = "SIGNAL";
  report.termination_indicator = "Segmentation fault: 11";
  report.termination_reasons = {"a reason"};
  report.application_info = {"-[_MTLCommandBuffer addScheduledHandler:]:709: failed assertion",
                             "`Scheduled handler provided after commit call'"};
  ThreadStack stack;
  stack.thread_id = 77;
  stack.faulting = true;
  stack.frames = {{"AGXMetalG16X", "a6a6", 0x1234,
                   "-[AGXG16XFamilyComputeContext setComputePipelineState:]", "", false}};
  report.threads = {stack};
  report.last_exception = {{"CoreFoundation", "cf00", 0x99, "__exceptionPreprocess", "", false}};
  return report;
}

GpuEvent gpu_restart() {
  return {"evidence/gpuEvent-1.ips", "9A8B", "mpsprobe-worker", 1769860802, "restart: hang"};
}

SampleJournal journal_with_evidence() {
  SampleJournal sample;
  sample.journal.image_sets["images-a"] = {{"/opt/mpsprobe/lib/libmpsprobe_sim.so", "5105"},
                                           {"/opt/torch/lib/libtorch_cpu.so", ""}};
  sample.block("Threads");
  Judgement crash = SampleJournal::segfault();
  crash.signature = "bad access in mpsprobe::sim::Kernel::bind";
  crash.also = {{"Metal: Scheduled handler provided after commit call", true},
                {"a text that nobody knows", false}};
  sample.plan("sim/linear/nograph/threads=8").ran(7, 6, crash);
  for (size_t i = 0; i < 6; ++i) add_crash(sample.journal.trials[i]);
  sample.journal.trials[0].processes[0].crash_report = crash_report_of_encode();
  sample.journal.trials[0].processes[0].gpu_events = {gpu_restart()};
  sample.ran(3, 3, hang_titled("hang: lock cycle, linear while launching"));
  for (int number = 7; number < 10; ++number) {
    TrialRecord& trial = sample.journal.trials[static_cast<size_t>(number)];
    trial.trial = number;
    add_hang(trial, lock_cycle_of_8(), Probe::completed);
  }
  sample.plan("sim/raw/default/threads=3")
      .ran(10, 1, hang_titled("hang: lock held by a thread that ended, raw while launching"));
  add_hang(sample.journal.trials[10], lock_of_an_ended_thread(), Probe::not_answered);
  Judgement thin = SampleJournal::segfault();
  thin.signature = "bad access in libfoo.so launching zeros (no function known)";
  thin.basis = Basis::place;
  thin.known = false;
  sample.plan("sim/zeros/default/threads=4").ran(10, 2, thin);
  return sample.ended();
}

}  // namespace mpsprobe
