// Reading what people have, as a person does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/runner/exit_code.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::Not;

class Read : public ProgramTest {
 protected:
  Run read_file(const std::string& text) const { return mpsprobe({"read", write("in", text)}); }
};

TEST_F(Read, TellsTheFailureOfAPastedIssue) {
  const Run run = read_file(
      "It dies after a minute:\n\n> ```\n> 2026-08-02 10:11:12,417 ERROR stderr: "
      "-[AGXG14XFamilyCommandBuffer take:]:1094: failed assertion `A command encoder is already "
      "encoding\n> to this command buffer'\n> zsh: abort      python serve.py\n> ```\n");
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_THAT(run.out, HasSubstr("outcome    assertion"));
  EXPECT_THAT(run.out, HasSubstr("title      assertion: A command encoder is already encoding"));
  EXPECT_THAT(run.out, HasSubstr("mpsprobe run --matrix issue-197836"));
}

TEST_F(Read, TellsTheThreadAndTheCellsOfACrashReport) {
  const std::string file =
      std::string(MPSPROBE_SOURCE_DIR) + "/harness/crash_report/testdata/objc-msgsend.ips";
  const Run run = mpsprobe({"read", file, "--json"});
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  const nlohmann::json told = nlohmann::json::parse(run.out);
  EXPECT_EQ(told.at("mpsprobe_read"), 1);
  EXPECT_EQ(told.at("input"), "crash report");
  const nlohmann::json& failure = told.at("failures").at(0);
  EXPECT_EQ(failure.at("outcome"), "signal");
  EXPECT_THAT(failure.at("title").get<std::string>(), HasSubstr("bad access in "));
  EXPECT_FALSE(failure.at("frames").empty());
  EXPECT_THAT(failure.at("run").at(0).at("command").get<std::string>(), HasSubstr("--backend mps"));
}

TEST_F(Read, NamesARaceWithTheStacksOfBothSides) {
  const Run run = read_file(
      "[2026-08-02 10:11:12] ==================\n"
      "[2026-08-02 10:11:12] WARNING: ThreadSanitizer: data race (pid=14798)\n"
      "[2026-08-02 10:11:12]   Write of size 8 at 0x559eaa529230 by thread T2:\n"
      "[2026-08-02 10:11:12]     #0 at::native::mps::MPSGraphCache::getInstance() "
      "OperationUtils.h:271 (libtorch_cpu.so+0x24ac)\n"
      "[2026-08-02 10:11:12]     #1 at::native::mps::unary_op(at::Tensor const&) Unary.mm:30 "
      "(libtorch_cpu.so+0x34ac)\n\n"
      "[2026-08-02 10:11:12]   Previous read of size 8 at 0x559eaa529230 by thread T1:\n"
      "[2026-08-02 10:11:12]     #0 at::native::mps::MPSGraphCache::getInstance() "
      "OperationUtils.h:270 (libtorch_cpu.so+0x24a0)\n\n"
      "[2026-08-02 10:11:12]   Thread T2 (tid=14801, running) created by main thread at:\n"
      "[2026-08-02 10:11:12]     #0 pthread_create <null> (libtsan.so.2+0x5e686)\n\n"
      "[2026-08-02 10:11:12] SUMMARY: ThreadSanitizer: data race OperationUtils.h:271 in "
      "at::native::mps::MPSGraphCache::getInstance()\n");
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_THAT(run.out, HasSubstr("outcome    data_race"));
  EXPECT_THAT(run.out,
              HasSubstr("race: MPSGraphCache::getInstance / MPSGraphCache::getInstance\n"));
  EXPECT_THAT(run.out, HasSubstr("Write of size 8 by thread T2\n  0   libtorch_cpu.so"));
  EXPECT_THAT(run.out, HasSubstr("Previous read of size 8 by thread T1\n  0   libtorch_cpu.so"));
  EXPECT_THAT(run.out, HasSubstr("unary_op"));
}

TEST_F(Read, ShowsWhoUsedFreedAndAllocatedABlock) {
  const Run run = read_file(
      "==42==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x51\n"
      "READ of size 4 at 0x602000000010 thread T2\n"
      "    #0 0x7f55 in __interceptor_memcpy /src/libsanitizer/asan/asan_interceptors.cpp:82\n"
      "    #1 0x5123 in at::native::linear_take(int) /src/lanes/pool.cpp:88:12\n\n"
      "0x602000000010 is located 0 bytes inside of 4-byte region\n"
      "freed by thread T1 here:\n"
      "    #0 0x4d12 in operator delete(void*) (/opt/lanes+0x4d12)\n"
      "    #1 0x5127 in lanes::give(int) /src/lanes/pool.cpp:99:3\n\n"
      "Thread T2 created by T0 here:\n"
      "    #0 0x7f55 in pthread_create (/usr/lib/libasan.so.8+0x5e68)\n\n"
      "SUMMARY: AddressSanitizer: heap-use-after-free /src/lanes/pool.cpp:88:12\nAborted\n");
  EXPECT_THAT(run.out,
              HasSubstr("title      AddressSanitizer: heap-use-after-free in at::native::linear"));
  EXPECT_THAT(run.out, HasSubstr("READ of size 4 thread T2\n  0   libsanitizer"));
  EXPECT_THAT(run.out, HasSubstr("freed by thread T1 here\n"));
  EXPECT_THAT(run.out, HasSubstr("lanes::give(int) (pool.cpp:99:3)"));
  EXPECT_THAT(run.out, Not(HasSubstr("pthread_create")));
  EXPECT_THAT(run.out, Not(HasSubstr("remark")));
  EXPECT_THAT(run.out, HasSubstr("mpsprobe run --op linear"));
}

TEST_F(Read, NamesTheThreadOfALineOfTheKernel) {
  const Run run = read_file(
      "[12.345] traps: lane worker[1235] trap invalid opcode ip:7f0a sp:7ffd error:0 in "
      "liblanes.so[7f0a1b000000+2000000]\n");
  EXPECT_THAT(run.out, HasSubstr("outcome    signal: SIGILL"));
  EXPECT_THAT(run.out, HasSubstr("title      illegal instruction in liblanes.so"));
  EXPECT_THAT(run.out, HasSubstr("faulting thread lane worker\n  0   liblanes.so"));
}

TEST_F(Read, ChoosesCellsByWhatTheFailureNames) {
  const auto command = [&](const std::string& text) { return read_file(text).out; };
  EXPECT_THAT(command("zsh: segmentation fault\n0   libtorch_cpu.dylib  0x18f "
                      "at::native::mps::linear_take(at::Tensor const&) + 8\n"),
              HasSubstr("mpsprobe run --op linear --threads 1-8 --backend mps"));
  EXPECT_THAT(command("RuntimeError: There is no Stream(gpu, 1) in current thread.\nAborted\n"),
              HasSubstr("mpsprobe run --matrix mlx"));
  EXPECT_THAT(command("Segmentation fault\n"),
              HasSubstr("nothing that was read names an operation or a backend"));
}

TEST_F(Read, NamesTheThreadThatAHangIsAbout) {
  const Run run = read_file(
      "(gdb) thread apply all bt\n\n"
      "Thread 3 (Thread 0x7f21 (LWP 43) \"pool\"):\n"
      "#0  0x00007f21 in pthread_cond_wait@@GLIBC_2.3.2 () from /lib/libc.so.6\n"
      "#1  0x00007f22 in lanes::Pool::worker_loop() () from /opt/liblanes.so\n\n"
      "Thread 2 (Thread 0x7f22 (LWP 44) \"taker\"):\n"
      "#0  0x00007f21 in __lll_lock_wait () from /lib/libc.so.6\n"
      "#1  0x00007f22 in lanes::take(int) () from /opt/liblanes.so\n"
      "#2  0x00007f22 in lanes::run() () from /opt/liblanes.so\n\n"
      "Thread 1 (Thread 0x7f23 (LWP 42) \"main\"):\n"
      "#0  0x00007f21 in pthread_cond_wait@@GLIBC_2.3.2 () from /lib/libc.so.6\n"
      "#1  0x00007f22 in mlx::core::Event::wait() () from /opt/libmlx.so\n"
      "#2  0x00007f22 in main ()\n");
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_THAT(run.out, HasSubstr("outcome    hang"));
  EXPECT_THAT(run.out, HasSubstr("title      hang in lanes::take\n"));
  EXPECT_THAT(run.out, HasSubstr("remark     thread \"main\" waits in mlx::core::Event::wait"));
  EXPECT_THAT(run.out, Not(HasSubstr("worker_loop")));
  EXPECT_THAT(run.out, HasSubstr("\nthread taker\n"));
}

TEST_F(Read, SaysThatFramesAloneDoNotTellHowItEnded) {
  const Run run = read_file("liblanes.dylib  lanes::take(int) + 8\n");
  EXPECT_THAT(run.out, HasSubstr("outcome    not said"));
  EXPECT_THAT(run.out, HasSubstr("title      in lanes::take"));
  EXPECT_THAT(run.out, Not(HasSubstr("bad access")));
  const Run core = read_file(
      "systemd-coredump[82]: Process 81 (lanes) of user 1000 dumped core.\n\n"
      "Stack trace of thread 82:\n#0  0x00007ffb n/a (libc.so.6 + 0x8d1)\n"
      "#1  0x00007ffc _ZN5lanes4takeEi (liblanes.so + 0x6ca)\n");
  EXPECT_THAT(core.out, HasSubstr("outcome    not said"));
  EXPECT_THAT(core.out, HasSubstr("title      in lanes::take"));
  EXPECT_THAT(read_file("There is no segfault any more, with one thread\n").out,
              HasSubstr("nothing of a failure found"));
  EXPECT_THAT(read_file("[Server] The engine died unexpectedly (Exit code: null)\n").out,
              HasSubstr("~/Library/Logs/DiagnosticReports"));
}

TEST_F(Read, SaysWhoElseWasInTheLibraryOfACrash) {
  const Run run = read_file(
      "Process:  python [12]\nException Type:  EXC_BAD_ACCESS (SIGSEGV)\n\n"
      "Thread 0:: idle\n0   libsystem_kernel.dylib  0x19d7 __psynch_cvwait + 8\n\n"
      "Thread 1:: taker\n0   libsystem_kernel.dylib  0x19d7 __psynch_mutexwait + 8\n"
      "1   libmlx.dylib  0x104c lanes::eval(int) + 8\n"
      "2   Python  0x104d _PyEval_EvalFrameDefault + 8\n\n"
      "Thread 2 Crashed:: giver\n0   libmlx.dylib  0x104f lanes::give(int) + 92\n");
  EXPECT_THAT(run.out, HasSubstr("bad access in lanes::give"));
  EXPECT_THAT(run.out, HasSubstr("thread \"taker\" was in lanes::eval, of the same library"));
  EXPECT_THAT(run.out, HasSubstr("the thread that died has no frame of Python"));
  EXPECT_THAT(run.out, Not(HasSubstr("\"idle\"")));
}

TEST_F(Read, NamesTheBackendByWhatStandsAroundATitle) {
  EXPECT_THAT(read_file("libc++abi: terminating due to uncaught exception of type "
                        "std::runtime_error: [METAL] Command buffer execution failed: Insufficient "
                        "Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n")
                  .out,
              HasSubstr("mpsprobe run --matrix mlx"));
  EXPECT_THAT(
      read_file("-[AGXG15GFamilyCommandBuffer take:]:832: failed assertion `no lane'\n").out,
      HasSubstr("--backend mps"));
}

TEST_F(Read, TellsOfAJournalWhatItsTrialsCameTo) {
  const Run ran = mpsprobe({"run", "--cell", "cpu/selftest.exit_eleven/default", "--trials", "3",
                            "--worker", selftest_, "--out", path("run")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Run run = mpsprobe({"read", path("run/journal.ndjson")});
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_THAT(run.out, HasSubstr("outcome    exit: 11"));
  EXPECT_THAT(run.out, HasSubstr("trials     3"));
  EXPECT_THAT(run.out, HasSubstr("mpsprobe run --cell cpu/selftest.exit_eleven/default"));
}

TEST_F(Read, SaysPlainlyWhereThereIsNoFailure) {
  const Run run = read_file("all lanes are ready\n");
  EXPECT_EQ(run.exit_code, kExitNothingRun);
  EXPECT_THAT(run.out, HasSubstr("nothing of a failure found in this text"));
  const Run piped = shell("echo all is well | \"$mpsprobe\" read - --json");
  EXPECT_EQ(piped.exit_code, kExitNothingRun) << piped.err;
  EXPECT_TRUE(nlohmann::json::parse(piped.out).at("failures").empty());
}

TEST_F(Read, RefusesWhatIsNoText) {
  const auto refused = [&](const std::string& input, const char* why) {
    const Run run = mpsprobe({"read", input}, 60);
    EXPECT_EQ(run.exit_code, kExitUsage) << input;
    EXPECT_THAT(run.err, HasSubstr(why)) << input;
    EXPECT_THAT(run.out, testing::IsEmpty()) << input;
  };
  refused("/dev/zero", "is over 16777216 bytes");
  refused(path("no such file"), "No such file");
  refused(folder_.string(), "is a folder");
  refused(write("empty", ""), "is empty");
  refused(write("binary", std::string(4096, '\x01')), "is no text");
  refused(write("huge", std::string((16 << 20) + 2, 'x')), "is over 16777216 bytes");
  const Run run = shell("\"$mpsprobe\" read - < /dev/zero", 60);
  EXPECT_EQ(run.exit_code, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("is over 16 MiB"));
  // Deep JSON behind a report's header line.
  refused(write("deep", "{\"bug_type\":\"309\"}\n" + std::string(100000, '[')), "read ");
}

// What was read acts on no screen.
TEST_F(Read, PrintsNothingThatATerminalObeys) {
  const Run run = read_file("LaneError: \x1b]0;mine\x07 \x1b[2J no lane\nAborted (core dumped)\n");
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace mpsprobe
