#include "harness/outcome/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <initializer_list>
#include <tuple>
#include <utility>

#include "harness/outcome/process_for_tests.h"
#include "harness/outcome/remarks.h"
#include "harness/record/process_record.h"
#include "harness/record/trial.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char* const kAssertion =
    "-[AGXG16XFamilyCommandBuffer tryCoalescingPreviousComputeCommandEncoderWithConfig:"
    "nextEncoderClass:]:1091: failed assertion `A command encoder is already encoding to this "
    "command buffer'\n";

TEST(Judge, AResultAndExitZeroPass) {
  EXPECT_EQ(judge(finished_process()).outcome, Outcome::pass);
}

TEST(Judge, ExitZeroWithoutAResultIsMissing) {
  EXPECT_EQ(judge(ended_process(Exited{0})).outcome, Outcome::missing);
}

TEST(Judge, ASignalAndAnExitCodeOfTheSameNumberAreDifferent) {
  const Judgement exit = judge(ended_process(Exited{11}));
  EXPECT_EQ(exit.outcome, Outcome::exit);
  EXPECT_EQ(exit.detail, "11");
  const Judgement signal = judge(ended_process(Signaled{11, false}));
  EXPECT_EQ(signal.outcome, Outcome::signal);
  EXPECT_EQ(signal.detail, "SIGSEGV");
}

TEST(Judge, TheExitStatusBeatsAReportedResult) {
  ProcessRecord process = finished_process();
  process.termination = Signaled{SIGSEGV, false};
  process.recorder.phase = Phase::teardown;
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::signal);
  EXPECT_EQ(judgement.phase, Phase::teardown);
  EXPECT_THAT(judgement.signature, HasSubstr("tear-down"));
}

TEST(Judge, ASignalThatItsOwnHandlerMadeAnExitOfTitlesIt) {
  const auto left = [](const char* err) {
    ProcessRecord process = ended_process(Exited{3}, err);
    process.recorder.crash.signal = SIGSEGV;
    process.recorder.intact = true;
    return judge(process);
  };
  for (const char* words : {"", "pool: caught SIGSEGV\n", "Segmentation fault at 0x0\n"}) {
    const Judgement judgement = left(words);
    EXPECT_EQ(judgement.outcome, Outcome::exit);
    EXPECT_EQ(judgement.detail, "3");
    EXPECT_THAT(judgement.signature, HasSubstr("bad access")) << words;
    EXPECT_EQ(judgement.also.size(), 1U);
  }
  // A virtual machine went on after it.
  EXPECT_THAT(left("LaneError: no lane of the pool\n").signature, HasSubstr("no lane"));
}

TEST(Judge, ABadAccessWithoutAFunctionIsTitledByWhatCannotBeSurvived) {
  const auto signature = [](const char* err) {
    return judge(ended_process(Signaled{SIGSEGV, false}, err)).signature;
  };
  EXPECT_EQ(signature("lanes(7,0x1) malloc: can't allocate region\n*** map failed\n"),
            "malloc: can't allocate region");
  EXPECT_EQ(signature("(mpsFileLoc): /x/G.mm:3:0: error: 'mps.take' op has no lane\n"),
            "MPSGraph: mps.take op has no lane");
  EXPECT_THAT(signature("MPS backend out of memory (MPS allocated: 1 GB)\n"),
              HasSubstr("(no function known)"));
}

TEST(Judge, AnExceptionToldTwiceIsTitledByItsText) {
  const char* const kMute =
      "libc++abi: terminating due to uncaught exception of type NSException\n";
  const std::string told =
      "*** Terminating app due to uncaught exception 'NSLane', reason: 'no lane is left'\n";
  for (const std::string& err :
       {told + kMute, kMute + told, std::string("no lane should be left open\n") + kMute}) {
    const Judgement judgement = judge(ended_process(Signaled{SIGABRT, false}, err));
    EXPECT_EQ(judgement.outcome, Outcome::exception) << err;
    EXPECT_THAT(judgement.signature, HasSubstr("lane")) << err;
  }
  EXPECT_EQ(judge(ended_process(Signaled{SIGABRT, false}, kMute)).signature,
            "exception of type NSException");
}

TEST(Judge, AnExceptionHasOneTitleWhetherCaughtReportedOrNot) {
  ProcessRecord caught = finished_process();
  caught.failures = {{"exception", "no lane for 3 of float16 is left", "run", -1, -1, "linear"}};
  const std::string expected = "no lane for N of <type> is left";
  EXPECT_EQ(judge(caught).signature, expected);
  EXPECT_EQ(
      judge(ended_process(Signaled{SIGABRT, false},
                          "terminate called after throwing an instance of 'std::runtime_error'\n  "
                          "what():  no lane for 4 of float32 is left\n"))
          .signature,
      expected);
  EXPECT_EQ(judge(ended_process(Exited{1},
                                "Traceback (most recent call last):\n  File \"a.py\", line 1\n"
                                "RuntimeError: no lane for 5 of Half is left\n"))
                .signature,
            expected);
}

TEST(Judge, AnAbortWithAKnownTextIsAnAssertion) {
  const Judgement judgement = judge(ended_process(Signaled{SIGABRT, false}, kAssertion));
  EXPECT_EQ(judgement.outcome, Outcome::assertion);
  EXPECT_TRUE(judgement.known);
  EXPECT_THAT(judgement.signature, HasSubstr("already encoding"));
}

TEST(Judge, AnAbortWithoutATextIsASignal) {
  const Judgement judgement = judge(ended_process(Signaled{SIGABRT, false}, "loading\n4 passed\n"));
  EXPECT_EQ(judgement.outcome, Outcome::signal);
  EXPECT_EQ(judgement.detail, "SIGABRT");
}

TEST(Judge, AnUncaughtExceptionIsAnException) {
  const Judgement judgement = judge(ended_process(
      Signaled{SIGABRT, false},
      "terminate called after throwing an instance of 'std::runtime_error'\n  what():  "
      "A and B index not found\n"));
  EXPECT_EQ(judgement.outcome, Outcome::exception);
}

// faulthandler tells of a bad access as of an error of the interpreter's, and others print into it.
TEST(Judge, ABadAccessIsNoErrorOfTheInterpreter) {
  const Judgement judgement =
      judge(ended_process(Signaled{SIGSEGV, false},
                          "Fatal Python error: worker 1: lane taken\n\nSegmentation fault\n"));
  EXPECT_THAT(judgement.signature, testing::StartsWith("bad access"));
}

TEST(Judge, AProcessThatALauncherStartedHasToldWhyItLeft) {
  const std::string launcher =
      "W1122 18:58:08.242000 20368 spawn.py:169] Terminating process 4 via signal SIGTERM\n"
      "Traceback (most recent call last):\n  File \"run.py\", line 3, in <module>\n"
      "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with exit code 1\n";
  EXPECT_EQ(
      judge(ended_process(Exited{1}, "pool 3: error: no lane of the pool is left\n" + launcher))
          .signature,
      "no lane of the pool is left");
  EXPECT_EQ(judge(ended_process(Exited{1}, launcher.substr(launcher.find("Traceback")))).signature,
            "process N terminated with exit code N");
}

TEST(Judge, ALibraryThatIsLoadedLateAndCannotBeIsNamed) {
  const char* why = "cannot load plugin: ./liblane.so: cannot allocate memory in static TLS block";
  const std::string thrown =
      "terminate called after throwing an instance of 'std::runtime_error'\n  what():  ";
  EXPECT_EQ(judge(ended_process(Signaled{SIGABRT, false}, thrown + why + "\n")).signature,
            "no room in static TLS for a library");
}

// A report tells the reason of an Objective-C exception with or without its name.
TEST(Judge, AnObjectsExceptionIsTitledByItsReasonAlone) {
  for (const char* entry :
       {"NSRangeException: *** -[Pool take:]: lane 3 beyond bounds",
        "*** -[Pool take:]: lane 3 beyond bounds", "-[Pool take:]: lane 3 beyond bounds"}) {
    ProcessRecord process = ended_process(Signaled{SIGABRT, false}, "");
    process.crash_report.emplace();
    process.crash_report->application_info = {entry};
    EXPECT_EQ(judge(process).signature, "-[Pool take:]: lane N beyond bounds") << entry;
  }
}

// An interpreter that reads its program from a terminal leaves with 0.
TEST(Judge, AMissingResultIsTitledByTheExceptionThatWasTold) {
  const Judgement told =
      judge(ended_process(Exited{0},
                          ">>> Traceback (most recent call last):\n  File \"<stdin>\", line 1, in "
                          "<module>\nLaneError: no lane of the pool is left\n>>> \n"));
  EXPECT_EQ(told.outcome, Outcome::missing);
  EXPECT_EQ(told.signature, "no lane of the pool is left");
}

TEST(Judge, ATextThatTheProcessSurvivedDoesNotHideItsCrash) {
  const std::string survived = "ImportError: dlopen(/x/y.so, 0x0002): Library not loaded: z\n";
  EXPECT_EQ(judge(ended_process(Signaled{SIGSEGV, false}, survived)).outcome, Outcome::signal);
  const Judgement abort = judge(ended_process(
      Signaled{SIGABRT, false},
      "RuntimeError: MPS backend out of memory (MPS allocated: 1 GB)\n" + std::string(kAssertion)));
  EXPECT_EQ(abort.outcome, Outcome::assertion);
  EXPECT_THAT(abort.signature, HasSubstr("already encoding"));
}

TEST(Judge, AReportedExceptionThatIsAResourceLimitIsOutOfMemory) {
  ProcessRecord process = finished_process();
  process.failures = {
      {"exception", "MPS backend out of memory (MPS allocated: 9.06 GB)", "run", 1, 2, "linear"}};
  EXPECT_EQ(judge(process).outcome, Outcome::out_of_memory);
  process.failures[0].text = "A and B index not found";
  EXPECT_EQ(judge(process).outcome, Outcome::exception);
  process.failures[0].text =
      "The MPS backend is supported on MacOS 14.0+. Current OS version can be queried using "
      "`sw_vers`";
  EXPECT_EQ(judge(process).outcome, Outcome::unsupported);
}

TEST(Judge, AGpuErrorInTheTextIsNoPassAndExplainsWrongNumbers) {
  const std::string text = "Error: command buffer exited with error status.\n";
  EXPECT_EQ(judge(finished_process(text)).outcome, Outcome::gpu_error);
  ProcessRecord process = finished_process(text);
  process.failures = {{"wrong_result", "element 3", "run", 0, 1, "linear"}};
  EXPECT_EQ(judge(process).outcome, Outcome::gpu_error);
}

std::string race_report(const std::string& one, const std::string& other, const char* caller) {
  return "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n"
         "  Write of size 8 at 0x7b04000001c8 by thread T2:\n    #0 " +
         one + " /lanes.cpp:9 (lanes+0x1c)\n    #1 " + caller +
         " /lanes.cpp:20 (lanes+0x2c)\n\n"
         "  Previous read of size 8 at 0x7b04000001c8 by thread T1:\n    #0 " +
         other + " /lanes.cpp:12 (lanes+0x3c)\n    #1 " + caller +
         " /lanes.cpp:20 (lanes+0x2c)\n\n"
         "SUMMARY: ThreadSanitizer: data race /lanes.cpp:9 in " +
         one + "\n==================\n";
}

TEST(Judge, ARaceIsAFailureWhateverTheProcessComputed) {
  const std::string text = race_report("lanes::Pool::take()", "lanes::Pool::give(int)", "main");
  ProcessRecord process =
      finished_process(text + "Error: command buffer exited with error status.\n");
  process.recorder.phase = Phase::teardown;
  process.failures = {{"wrong_result", "element 3", "run", 0, 1, "linear"}};
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::data_race);
  EXPECT_EQ(judgement.signature, "race: Pool::give / Pool::take");
  EXPECT_EQ(judgement.phase, Phase::run);
  EXPECT_THAT(judgement.also,
              testing::Contains(testing::Field(&OtherFinding::title, HasSubstr("wrong result"))));
  EXPECT_TRUE(is_failure(Outcome::data_race) && is_evidence(Outcome::data_race));
}

TEST(Judge, AnExitCodeOfThreadSanitizersOwnIsItsRace) {
  const std::string text = race_report("lanes::Pool::take()", "lanes::Pool::take()", "main");
  EXPECT_EQ(judge(ended_process(Exited{66}, text)).outcome, Outcome::data_race);
  const Judgement other = judge(ended_process(Exited{7}, text));
  EXPECT_EQ(other.outcome, Outcome::exit);
  EXPECT_EQ(other.signature, "race: Pool::take / Pool::take");
  EXPECT_EQ(judge(ended_process(Signaled{SIGSEGV, false}, text)).outcome, Outcome::signal);
}

TEST(Judge, ARaceInTearDownOrInOwnCodeIsToldApart) {
  const std::string own = race_report("mpsprobe::send()", "mpsprobe::send()", "main");
  EXPECT_EQ(judge(finished_process(own)).outcome, Outcome::infrastructure);
  const std::string ending = race_report("lanes::close()", "lanes::clear()", "at_exit_wrapper");
  const Judgement last = judge(finished_process(own + ending));
  EXPECT_EQ(last.outcome, Outcome::data_race);
  EXPECT_EQ(last.signature, "race: lanes::clear / lanes::close, in tear-down");
  EXPECT_EQ(last.phase, Phase::teardown);
  const std::string run = race_report("lanes::close()", "mpsprobe::read()", "main");
  const Judgement first = judge(finished_process(own + ending + run));
  EXPECT_EQ(first.signature, "race: lanes::close / mpsprobe::read");
  EXPECT_EQ(first.phase, Phase::run);
}

TEST(Judge, WhoEndedItIsKnownNotGuessed) {
  ProcessRecord process = ended_process(Signaled{SIGTERM, false});
  process.ended_by = EndedBy::no_progress;
  EXPECT_EQ(judge(process).outcome, Outcome::hang);
  EXPECT_EQ(judge(process).signature, "hang launching linear");
  process.ended_by = EndedBy::user;
  EXPECT_EQ(judge(process).outcome, Outcome::not_run);
  process.ended_by = EndedBy::memory_limit;
  EXPECT_EQ(judge(process).outcome, Outcome::out_of_memory);
  process.ended_by = EndedBy::nobody;
  EXPECT_EQ(judge(process).outcome, Outcome::infrastructure);
}

TEST(Judge, WhatComputesAtTheDeadlineIsSlowUnlessItsLocksSayOtherwise) {
  ProcessRecord process = ended_process(Signaled{SIGTERM, false});
  process.ended_by = EndedBy::deadline;
  process.seconds = 30;
  process.idle_seconds = 1;
  EXPECT_EQ(judge(process).outcome, Outcome::timeout);
  EXPECT_EQ(judge(process).signature, "still computing launching linear");
  EXPECT_FALSE(is_evidence(Outcome::timeout));
  process.idle_seconds = 20;
  EXPECT_EQ(judge(process).outcome, Outcome::hang);
  process.idle_seconds = 1;
  process.stacks.lock_cycle = {1, 2};
  EXPECT_EQ(judge(process).outcome, Outcome::hang);
  process.stacks.lock_cycle.clear();
  process.stacks.threads.emplace_back().wait.owner_gone = true;
  EXPECT_EQ(judge(process).outcome, Outcome::hang);
}

TEST(Judge, WhatCameFirstIsTheOutcomeAndWhatCameLaterStandsBesideIt) {
  const FailureEvent raised{"exception", "ValueError: no lane", "run", 0, 1, "linear"};
  const FailureEvent refused{
      "exception", "RuntimeError: There is no Stream(cpu, 0) in current thread.", "run", 1, 1, ""};
  const FailureEvent wrong{"wrong_result", "element 3", "run", 0, 1, "linear"};
  ProcessRecord dead = ended_process(Signaled{SIGSEGV, false});
  dead.recorder.phase = Phase::finalise;
  ProcessRecord hung = ended_process(Signaled{SIGTERM, false});
  hung.ended_by = EndedBy::no_progress;
  const ProcessRecord left = ended_process(Exited{11});
  for (ProcessRecord process : {dead, hung, left, ended_process(Signaled{SIGKILL, false})}) {
    const Judgement later = judge(process);
    process.failures = {raised, wrong};
    const Judgement first = judge(process);
    EXPECT_EQ(first.outcome, Outcome::exception);
    EXPECT_EQ(first.phase, Phase::run);
    ASSERT_FALSE(first.also.empty());
    EXPECT_EQ(first.also[0].title, later.signature);
    process.failures = {refused, raised};
    EXPECT_EQ(judge(process).outcome, Outcome::refused);
    process.failures = {wrong, refused};
    EXPECT_EQ(judge(process).outcome, Outcome::wrong_result);
  }
  // What the user ended, and what was never the product's, stays so.
  hung.failures = {raised};
  hung.ended_by = EndedBy::user;
  EXPECT_EQ(judge(hung).outcome, Outcome::not_run);
}

TEST(Judge, AKillIsForMemoryOnlyWhereTheKernelSaysSo) {
  ProcessRecord process = ended_process(Signaled{SIGKILL, false});
  EXPECT_EQ(judge(process).outcome, Outcome::infrastructure);
  process.kernel_memory_kill = true;
  EXPECT_EQ(judge(process).outcome, Outcome::out_of_memory);
}

TEST(Judge, ACrashWhoseHandlerGotStuckIsTheCrash) {
  ProcessRecord process = ended_process(Signaled{SIGKILL, false});
  process.ended_by = EndedBy::no_progress;
  process.recorder.crash.signal = SIGSEGV;
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::signal);
  EXPECT_EQ(judgement.detail, "SIGSEGV");
}

TEST(Judge, WhatNeverGotToTheProductIsSetUp) {
  ProcessRecord loader =
      ended_process(Exited{127},
                    "worker: error while loading shared libraries: libtorch_cpu.so: cannot open "
                    "shared object file: No such file or directory\n");
  loader.hello.reset();
  EXPECT_EQ(judge(loader).outcome, Outcome::setup_failed);
  ProcessRecord dyld = ended_process(Signaled{SIGABRT, false},
                                     "dyld[123]: Library not loaded: @rpath/libtorch_cpu.dylib\n");
  dyld.hello.reset();
  EXPECT_EQ(judge(dyld).outcome, Outcome::setup_failed);
  ProcessRecord missing;
  missing.termination = NotSpawned{2, "No such file or directory"};
  EXPECT_EQ(judge(missing).outcome, Outcome::infrastructure);
}

TEST(Judge, ASymbolThatIsMissingWhenItIsFirstCalledIsNamedAsOneThatWasMissingBefore) {
  const Judgement late = judge(ended_process(
      Exited{127}, "./prog: symbol lookup error: ./prog: undefined symbol: _Z4takei\n"));
  EXPECT_EQ(late.outcome, Outcome::exit);
  EXPECT_EQ(late.signature, "symbol not found: _Z4takei");
}

TEST(Judge, TheSignatureOfACrashWithoutAFunctionSaysThatItIsThin) {
  ProcessRecord process = ended_process(Signaled{SIGSEGV, false});
  process.recorder.crash.signal = SIGSEGV;
  process.recorder.crash.thread = 1;
  process.recorder.crash.frames = {{"/lib/libc.so.6", "", 0x88},
                                   {"/opt/torch/lib/libtorch_cpu.so", "", 0x1234}};
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.signature,
            "bad access in libtorch_cpu.so launching linear (no function known)");
  EXPECT_EQ(judgement.basis, Basis::place);
}

ThreadStack faulting(std::vector<std::pair<std::string, std::string>> frames) {
  ThreadStack stack;
  stack.faulting = true;
  for (auto& [image, function] : frames) {
    StackFrame frame;
    frame.image = image;
    frame.function = function;
    stack.frames.push_back(std::move(frame));
  }
  return stack;
}

TEST(Judge, SegvAndBusOfOneFunctionAreOneBugAndTheSignalStaysInTheDetail) {
  ProcessRecord process = ended_process(Signaled{SIGSEGV, false});
  process.stacks.threads = {faulting({{"libtorch_cpu.dylib", "at::mps::MPSStream::commit()"}})};
  const Judgement segv = judge(process);
  process.termination = Signaled{SIGBUS, false};
  const Judgement bus = judge(process);
  EXPECT_EQ(segv.signature, "bad access in at::mps::MPSStream::commit");
  EXPECT_EQ(bus.signature, segv.signature);
  EXPECT_EQ(segv.detail, "SIGSEGV");
  EXPECT_EQ(bus.detail, "SIGBUS");
  EXPECT_EQ(segv.basis, Basis::frames);
}

TEST(Judge, AModuleThatACallDoesNotFindIsItsExceptionAndOneOfTheStartIsSetUp) {
  ProcessRecord process = finished_process();
  const std::string text = "ModuleNotFoundError: No module named 'lanes'";
  process.failures = {{"exception", text, "run", 0, 1, "linear"}};
  EXPECT_EQ(judge(process).outcome, Outcome::exception);
  process.failures = {{"exception", text, "startup", -1, -1, "linear"}};
  EXPECT_EQ(judge(process).outcome, Outcome::setup_failed);
}

TEST(Judge, WhatDyldEndedIsSetUpWhateverHelloSaid) {
  ProcessRecord process = ended_process(Signaled{SIGABRT, false});
  process.crash_report.emplace().termination_namespace = "DYLD";
  EXPECT_EQ(judge(process).outcome, Outcome::setup_failed);
  process.crash_report->termination_namespace = "SIGNAL";
  EXPECT_EQ(judge(process).outcome, Outcome::signal);
  process.crash_report->termination_reasons = {"Symbol not found: __ZN2at6linear"};
  EXPECT_EQ(judge(process).outcome, Outcome::setup_failed);
}

TEST(Judge, AGpuEventOfTheSystemAloneChangesNothing) {
  ProcessRecord process = finished_process();
  process.gpu_events.resize(2);
  EXPECT_EQ(judge(process).outcome, Outcome::pass);
}

TEST(Judge, KeepsEverythingElseThatWasToldInOrderAndOnce) {
  ProcessRecord process = ended_process(
      Signaled{SIGABRT, false}, std::string(kAssertion) + "free(): invalid pointer\n" + kAssertion +
                                    "free(): invalid pointer\n");
  process.failures = {{"wrong_result", "element 3", "run", 0, 1, "linear"}};
  process.crash_report.emplace().application_info = {
      "-[_MTLCommandBuffer addCompletedHandler:]:867: failed assertion `Completed handler provided",
      "after commit call'", kAssertion};
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.signature, "wrong result: linear");
  std::vector<std::string> also;
  for (const OtherFinding& other : judgement.also) also.push_back(other.title);
  EXPECT_THAT(also, ElementsAre(HasSubstr("already encoding"), "malloc: free(): invalid pointer",
                                "assertion: Completed handler provided after commit call"));
}

TEST(Judge, APassTellsOfNothingElse) {
  const Judgement judgement = judge(finished_process("RuntimeError: A and B index not found\n"));
  EXPECT_EQ(judgement.outcome, Outcome::pass);
  EXPECT_TRUE(judgement.also.empty());
}

TEST(Judge, AGpuOutOfMemoryInTheTextIsNoPassAndAnyOtherMayBeSurvived) {
  const Judgement lost = judge(finished_process(
      "Execution of the command buffer was aborted due to an error during execution. Insufficient "
      "Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n"));
  EXPECT_EQ(lost.outcome, Outcome::out_of_memory);
  EXPECT_EQ(lost.signature, "command buffer: Insufficient Memory");
  EXPECT_EQ(
      judge(finished_process("RuntimeError: MPS backend out of memory (MPS allocated: 1 GB)\n"))
          .outcome,
      Outcome::pass);
}

TEST(Judge, WhatWasCaughtAndPrintedDoesNotExplainATrapOrAnAbortElsewhere) {
  const std::string caught =
      "NotImplementedError: The operator 'aten::lerp' is not currently implemented for the MPS "
      "device.\n";
  ProcessRecord process = ended_process(Signaled{SIGTRAP, false}, caught);
  process.stacks.threads = {faulting({{"AGXMetalG16X", "AGX::ComputeContext::finish(int)"}})};
  Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::signal);
  EXPECT_EQ(judgement.signature, "trap in AGX::ComputeContext::finish");
  process.termination = Signaled{SIGABRT, false};
  judgement = judge(process);
  EXPECT_EQ(judgement.signature, "abort in AGX::ComputeContext::finish");
  ASSERT_EQ(judgement.also.size(), 1U);
  EXPECT_EQ(judgement.also[0].title, "operator not implemented for MPS: aten::lerp");
  // Without a function, or as the words of the runtime, it is the best that is known.
  process.stacks = {};
  EXPECT_EQ(judge(process).outcome, Outcome::unsupported);
  process.stacks.threads = {faulting({{"libtorch_cpu.dylib", "at::native::mps::lerp(int)"}})};
  process.err.head =
      "libc++abi: terminating due to uncaught exception of type c10::NotImplementedError: " +
      caught.substr(caught.find("The"));
  process.err.bytes = process.err.head.size();
  judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::unsupported);
  ASSERT_EQ(judgement.also.size(), 1U);
  EXPECT_EQ(judgement.also[0].title, "abort in at::native::mps::lerp");
}

TEST(Judge, WhatEndsItIsKeptBehindAnyNumberOfSurvivedTexts) {
  std::string many;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) {
      many += std::string("CUDA error: survived text ") + a + b + "\n";
    }
  }
  const Judgement judgement = judge(ended_process(Signaled{SIGABRT, false}, many + kAssertion));
  EXPECT_EQ(judgement.outcome, Outcome::assertion);
  EXPECT_THAT(judgement.signature, HasSubstr("already encoding"));
  EXPECT_EQ(judgement.also.size(), kMostFindings - 1);
  // So is the function that died.
  ProcessRecord dead = ended_process(Signaled{SIGABRT, false}, many);
  dead.failures.resize(3, {"wrong_result", "element 3", "run", 0, 1, "linear"});
  dead.failures[1].operation = "mm";
  dead.stacks.threads = {faulting({{"AGXMetalG16X", "AGX::ComputeContext::finish(int)"}})};
  ASSERT_EQ(judge(dead).also.size(), kMostFindings);
  EXPECT_EQ(judge(dead).also.back().title, "abort in AGX::ComputeContext::finish");
  // As last words of a library in the crash report, too.
  ProcessRecord process = ended_process(Signaled{SIGABRT, false}, many);
  process.crash_report.emplace().application_info = {kAssertion};
  EXPECT_EQ(judge(process).outcome, Outcome::assertion);
}

TEST(Judge, AKillByTheKernelForAGuardIsItsOwnAndOthersAreNot) {
  ProcessRecord process = ended_process(Signaled{SIGKILL, false});
  process.crash_report.emplace().threads = {faulting({{"IOGPU", "IOGPUDeviceDestroy"}})};
  for (const char* name : {"JETSAM", "RUNNINGBOARD", "CODESIGNING", "SIGNAL"}) {
    process.crash_report->termination_namespace = name;
    EXPECT_EQ(judge(process).outcome, Outcome::infrastructure) << name;
  }
  process.crash_report->exception = "EXC_GUARD";
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::signal);
  EXPECT_EQ(judgement.detail, "SIGKILL");
  EXPECT_EQ(judgement.signature, "misuse of a guarded port or descriptor in IOGPUDeviceDestroy");
  process.crash_report->exception.clear();
  process.crash_report->termination_namespace = "GUARD";
  EXPECT_EQ(judge(process).outcome, Outcome::signal);
}

TEST(Judge, ThinTitlesDoNotDivideABugByTheSignalOfTheSameBadAddress) {
  const Judgement segv = judge(ended_process(Signaled{SIGSEGV, false}));
  const Judgement bus = judge(ended_process(Signaled{SIGBUS, false}));
  EXPECT_EQ(segv.signature, "bad access launching linear (no function known)");
  EXPECT_EQ(bus.signature, segv.signature);
  EXPECT_EQ(bus.detail, "SIGBUS");
}

TEST(Judge, ARecursionRanOverTheStackOnlyWhereSomethingShowsIt) {
  ProcessRecord process = ended_process(Signaled{SIGSEGV, false});
  CrashReport& report = process.crash_report.emplace();
  report.subtype = "KERN_INVALID_ADDRESS at 0x00006f6f6f6f6f6f";
  ThreadStack walk = faulting({{"w", "leaf(int)"}});
  walk.frames.resize(41, walk.frames[0]);
  for (size_t i = 1; i < walk.frames.size(); ++i) walk.frames[i].function = "walk(int)";
  report.threads = {walk};
  EXPECT_EQ(judge(process).signature, "bad access in leaf");
  report.subtype = "KERN_PROTECTION_FAILURE at 0x000000016f603ff0 (stack guard)";
  EXPECT_EQ(judge(process).signature, "stack overflow in walk");
  report.subtype = "KERN_PROTECTION_FAILURE at 0x000000016f603ff0";
  EXPECT_EQ(judge(process).signature, "bad access in leaf");
  report.threads[0].frames.resize(511, walk.frames[1]);
  EXPECT_EQ(judge(process).signature, "stack overflow in walk");
}

// A function with a large frame calls ___chkstk_darwin, which touches each page of it; threads of
// macOS have 512 KiB of stack.
TEST(Judge, AFrameThatDoesNotFitOverflowsTheStackOfWhoseItIs) {
  ProcessRecord process = ended_process(Signaled{SIGBUS, false});
  process.stacks.threads = {faulting({{"libsystem_pthread.dylib", "___chkstk_darwin"},
                                      {"MPSGraph", "mlir::compile(int)"},
                                      {"w", "launch(int)"}})};
  process.recorder.crash.signal = SIGBUS;
  process.recorder.crash.address = 0x16f600000;
  process.recorder.crash.stack_pointer = 0x16f600000 + 0x60000;
  EXPECT_EQ(judge(process).signature, "stack overflow in mlir::compile");
  ThreadStack walk = process.stacks.threads[0];
  for (int depth = 0; depth < 40; ++depth) {
    walk.frames.insert(walk.frames.begin() + 2, StackFrame());
    walk.frames[2].image = "w";
    walk.frames[2].function = "walk(int)";
  }
  walk.frames.erase(walk.frames.begin() + 1);
  process.stacks.threads = {walk};
  EXPECT_EQ(judge(process).signature, "stack overflow in walk");
  process.stacks.threads[0].frames.erase(process.stacks.threads[0].frames.begin());
  EXPECT_EQ(judge(process).signature, "stack overflow in walk") << "by its recursion";
}

TEST(Judge, AJumpToMemoryBesideTheStackDoesNotOverflowIt) {
  ProcessRecord process = ended_process(Signaled{SIGSEGV, false});
  process.stacks.threads = {faulting({{"", ""}, {"w", "call(int)"}})};
  process.recorder.crash.signal = SIGSEGV;
  process.recorder.crash.address = 0x7fab30104170;
  process.recorder.crash.stack_pointer = 0x7fab300fdba8;
  process.recorder.crash.frames = {{"", "", 0x7fab30104170}, {"w", "", 0x930b7}};
  EXPECT_EQ(judge(process).signature, "bad access in call");
  process.recorder.crash.frames.erase(process.recorder.crash.frames.begin());
  EXPECT_EQ(judge(process).signature, "stack overflow in call");
}

TEST(Remarks, SayWhatHoldsNumbersOfOneRun) {
  ProcessRecord process = ended_process(Signaled{SIGSEGV, false});
  process.recorder.crash.signal = SIGSEGV;
  process.recorder.crash.address = 0x5c8;
  EXPECT_THAT(remarks(process), ElementsAre("bad address null + 0x5c8"));
  process.recorder.crash.address = 0xbeaddc3f8010;
  process.stacks.threads = {faulting({{"libc.so.6", "_int_malloc"}, {"w", "run(int)"}})};
  EXPECT_THAT(remarks(process),
              ElementsAre(HasSubstr("not near null"), HasSubstr("when run called it")));

  ProcessRecord hung = ended_process(Signaled{SIGKILL, false});
  hung.ended_by = EndedBy::no_progress;
  hung.recorder.probe = Probe::completed;
  EXPECT_THAT(remarks(hung), ElementsAre(HasSubstr("the host hangs")));
  hung.recorder.probe = Probe::not_answered;
  EXPECT_THAT(remarks(hung), ElementsAre(HasSubstr("did not end in time")));
  hung.recorder.probe = Probe::failed;
  EXPECT_THAT(remarks(hung), ElementsAre(HasSubstr("failed")));
  hung.recorder.probe = Probe::impossible;
  EXPECT_THAT(remarks(hung), ElementsAre(HasSubstr("is not known")));
  EXPECT_TRUE(remarks(finished_process()).empty());
}

TEST(Judge, AnUnknownKindOfFailureIsNoEvidence) {
  ProcessRecord process = finished_process();
  process.failures = {{"great success", "", "run", 0, 0, "linear"}};
  EXPECT_EQ(judge(process).outcome, Outcome::infrastructure);
}

TEST(JudgeTrial, TheFailureThatEndedFirstSpeaks) {
  TrialRecord trial;
  trial.processes = {finished_process(), ended_process(Signaled{SIGSEGV, false}),
                     ended_process(Exited{11})};
  trial.processes[1].ended_at = 2;
  trial.processes[2].ended_at = 1;
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::exit);
  EXPECT_EQ(trial.judged_process, 2);
  // One that told of a failure failed then, however long it went on.
  trial.processes[0].failures = {{"wrong_result", "element 3", "run", 0, 1, "linear"}};
  trial.processes[0].failed_at = 0.5;
  trial.processes[0].ended_at = 3;
  judge_trial(trial);
  EXPECT_EQ(trial.judged_process, 0);
}

TEST(JudgeTrial, AHangSaysOnWhichPath) {
  TrialRecord trial;
  trial.processes = {ended_process(Signaled{SIGKILL, false})};
  trial.processes[0].ended_by = EndedBy::no_progress;
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.signature, "hang launching linear");
  trial.cell.path = Path::graph;
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.signature, "hang launching linear/graph");
}

TEST(Judge, ABrokenRuleIsTheCallersWhateverElseTheProcessCameTo) {
  const FailureEvent broken{
      "misuse", "second-encoder: opened an encoder while another one is open\n  called here\n    x",
      "run",    2,
      -1,       ""};
  ProcessRecord passed = finished_process();
  passed.failures = {broken};
  ProcessRecord aborted = ended_process(
      Signaled{SIGABRT, false},
      "-[X computeCommandEncoder]:885: failed assertion `A command encoder is already "
      "encoding to this command buffer'\n");
  aborted.failures = {{"wrong_result", "at index [0]", "run", 0, 0, "linear"}, broken};
  for (const ProcessRecord& process : {passed, aborted}) {
    const Judgement judgement = judge(process);
    EXPECT_EQ(judgement.outcome, Outcome::misuse);
    EXPECT_EQ(judgement.signature,
              "misuse: second-encoder: opened an encoder while another one is open");
    EXPECT_EQ(judgement.phase, Phase::run);
  }
  EXPECT_TRUE(judge(passed).also.empty());
  ASSERT_EQ(judge(aborted).also.size(), 2U);
  EXPECT_EQ(judge(aborted).also[0].title,
            "assertion: A command encoder is already encoding to this command buffer");
  EXPECT_TRUE(is_failure(Outcome::misuse));
  passed.setup_problem = "another library was loaded";
  EXPECT_EQ(judge(passed).outcome, Outcome::setup_failed);
}

TEST(JudgeTrial, InfrastructureIsNoPassAndAFailureBeatsIt) {
  TrialRecord trial;
  trial.processes = {finished_process(), ended_process(Signaled{SIGKILL, false})};
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::infrastructure);
  trial.processes.push_back(ended_process(Signaled{SIGSEGV, false}));
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::signal);
}

TEST(Outcome, EveryWordComesBack) {
  for (int i = 0; i <= static_cast<int>(Outcome::not_run); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(named<Outcome>(name_of(outcome)), outcome);
  }
  EXPECT_FALSE(named<Outcome>("passed"));
  EXPECT_FALSE(is_failure(Outcome::pass));
  EXPECT_TRUE(is_failure(Outcome::gpu_error));
  EXPECT_FALSE(is_evidence(Outcome::unsupported));
}

}  // namespace
}  // namespace mpsprobe
