#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/wire/event.h"
#include "harness/wire/flight_recorder.h"
#include "harness/wire/shared_memory.h"
#include "harness/wire/write_all.h"
#include "scenarios/selftest/misbehaviour.h"

namespace mpsprobe::noise {
namespace {

std::string every_byte() {
  std::string bytes;
  for (int round = 0; round < 64; ++round) {
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>((byte * 7 + round) & 255);
  }
  return bytes;
}

// Long enough to outlive the trial by far, short enough not to pile up.
constexpr unsigned kStaySeconds = 20;

void leave_child_behind(bool own_session) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child > 0) return;
  if (own_session) setsid();
  sleep(kStaySeconds);
  _exit(0);
}

}  // namespace

void flood_stderr() {
  const std::string line(64 * 1024 - 1, 'x');
  for (int i = 0; i < 4 * 1024; ++i) write_all(STDERR_FILENO, line + "\n");
}

void garbage_everywhere() {
  const std::string bytes = every_byte();
  for (int fd : {STDOUT_FILENO, STDERR_FILENO, kEventsFd}) write_all(fd, bytes);
  write_all(kEventsFd,
            "\n" + std::string(100'000, '[') + "\n{\"event\":17}\n{\"event\":\"result\"");
  write_all(kEventsFd, "\n");
}

void scribbled_recorder() {
  // Mapped anew: the worker's own mapping is none of this file's business.
  SharedMemory memory = SharedMemory::attach(dup(kRecorderFd), sizeof(recorder_layout::Block));
  auto* bytes = static_cast<unsigned char*>(memory.data());
  for (size_t i = 0; i < sizeof(recorder_layout::Block); ++i) {
    bytes[i] = static_cast<unsigned char>(i * 31 + 7);
  }
}

void hostile_text() {
  write_all(STDERR_FILENO, "</pre><script>alert(1)</script>![x](http://example.invalid/x)\n");
  write_all(STDERR_FILENO, "```\n# heading\n| a | b |\n\x1b[2J\x1b]0;title\x07\x1b[31mred\n");
  write_all(STDERR_FILENO, "\xff\xfe\xc3\x28\xe2\x80\xae reversed \xf0\x9f\n");
  write_all(STDERR_FILENO, std::string(100'000, '`') + "\n");
  write_all(STDERR_FILENO,
            "-[Hostile <b>thing</b>]:1: failed assertion `| `<img src=x>`\x1b[31m'\n");
  std::abort();
}

void closes_channels() {
  for (int fd = 0; fd < 64; ++fd) close(fd);
  std::_Exit(0);
}

void gpu_error_text() {
  write_all(STDERR_FILENO,
            "Error: command buffer exited with error status.\n\tThe Metal Performance Shaders "
            "operations encoded on it may not have completed.\n\tError:\n\t(null)\n\tCaused GPU "
            "Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)\n");
}

void forged_result() {
  write_all(kEventsFd, to_line(ResultEvent{1'000'000, 1.0, 1'000'000, 0, "graph"}) + "\n");
  faults::null_dereference();
}

void slow() {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

void slow_teardown() {
  /// As a library's scheduler, which the runtime takes apart at exit.
  struct Pool {
    std::vector<std::thread> threads;
    std::atomic<size_t> ended{0};

    Pool() {
      for (size_t i = 0; i < 5; ++i) {
        threads.emplace_back([this, i] {
          while (ended.load() <= i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        });
      }
    }
    ~Pool() {
      for (std::thread& thread : threads) {
        slow();
        ended.fetch_add(1);
        thread.join();
      }
    }
  };
  static Pool pool;
}

namespace {

constexpr std::array kNoise{
    Misbehaviour{"pass", "does nothing wrong"},
    Misbehaviour{"slow", "takes long, but gets on", slow, Stage::every_launch},
    Misbehaviour{
        .name = "abort_encoder",
        .summary = "aborts as Metal does: encoder already encoding",
        .printed =
            "-[AGXG16XFamilyCommandBuffer "
            "tryCoalescingPreviousComputeCommandEncoderWithConfig:nextEncoderClass:]:1091: failed "
            "assertion `A command encoder is already encoding to this command buffer'\n"},
    Misbehaviour{.name = "abort_uncommitted",
                 .summary = "aborts as Metal does: commit with uncommitted encoder",
                 .printed = "-[IOGPUMetalCommandBuffer validate]:214: failed assertion `commit "
                            "command buffer with uncommitted encoder'\n"},
    Misbehaviour{.name = "abort_scheduled",
                 .summary = "aborts as Metal does: scheduled handler after commit",
                 .printed = "-[_MTLCommandBuffer addScheduledHandler:]:838: failed assertion "
                            "`Scheduled handler provided after commit call'\n"},
    Misbehaviour{.name = "abort_completed",
                 .summary = "aborts as Metal does: completed handler after commit",
                 .printed = "-[_MTLCommandBuffer addCompletedHandler:]:867: failed assertion "
                            "`Completed handler provided after commit call'\n"},
    Misbehaviour{.name = "abort_committed",
                 .summary = "aborts as Metal does: committed twice",
                 .printed = "-[_MTLCommandBuffer commit]:412: failed assertion `commit an already "
                            "committed command buffer'\n"},
    Misbehaviour{.name = "abort_status",
                 .summary = "aborts as Metal does: status is committed",
                 .printed = "-[IOGPUMetalCommandBuffer setCurrentCommandEncoder:]:133: failed "
                            "assertion `_status < MTLCommandBufferStatusCommitted at line 311 in "
                            "-[IOGPUMetalCommandBuffer setCurrentCommandEncoder:]'\n"},
    Misbehaviour{
        .name = "abort_blit",
        .summary = "aborts as Metal does: blit encoder",
        .printed = "-[AGXG15XFamilyCommandBuffer blitCommandEncoderCommon:]:836: failed assertion "
                   "`A command encoder is already encoding to this command buffer'\n"},
    Misbehaviour{.name = "abort_allocator",
                 .summary = "aborts as the MPS allocator does at shutdown",
                 .printed = "FATAL: MPSAllocator::shutdown: timeout after 5s waiting for TLS cache "
                            "flush. 3 threads did not answer\n"},
    Misbehaviour{
        .name = "abort_wrapped",
        .summary = "aborts with a text that is broken over two lines",
        .printed =
            " 43%|####      |-[AGXG13XFamilyCommandBuffer "
            "tryCoalescingPreviousComputeCommandEncoderWithConfig:nextEncoderClass:]:1090: failed "
            "assertion 'A command\nencoder is already encoding to this command buffer'\n"},
    Misbehaviour{"closes_channels", "closes every descriptor and leaves with 0", closes_channels},
    Misbehaviour{"grandchild", "leaves a child that keeps the pipes open",
                 [] { leave_child_behind(false); }},
    Misbehaviour{"grandchild_session", "leaves a child in a session of its own",
                 [] { leave_child_behind(true); }},
    Misbehaviour{"flood", "1 GiB on stderr", flood_stderr},
    Misbehaviour{"garbage", "binary on every channel", garbage_everywhere},
    Misbehaviour{"scribble", "overwrites the flight recorder", scribbled_recorder},
    Misbehaviour{"hostile_text", "markup, escapes and broken UTF-8, then aborts", hostile_text},
    Misbehaviour{"forged_result", "reports a result, then crashes", forged_result},
    Misbehaviour{"gpu_error", "prints a GPU error and goes on", gpu_error_text},
    Misbehaviour{"slow_teardown", "its threads end in tear-down, one after the other",
                 slow_teardown},
};

}  // namespace

std::span<const Misbehaviour> noisy() {
  return kNoise;
}

}  // namespace mpsprobe::noise
