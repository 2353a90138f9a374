#include "harness/outcome/clause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/outcome/diagnosis.h"
#include "harness/outcome/last_words.h"
#include "harness/outcome/log_prefix.h"
#include "harness/outcome/normal_text.h"

namespace mpsprobe {
namespace {

TEST(ClauseTitle, IsTheSameWhoeverPassesTheMessageOn) {
  const std::string plain = "the lane of <type> has no room for N";
  for (
      const char* line : {
          "the lane of float16 has no room for 12 bytes",
          "RuntimeError: the lane of bfloat16 has no room for 12 GiB",
          "std::runtime_error: the lane of c10::Half has no room for 1e-05",
          "2026-01-02 03:04:05,678 - lanes - ERROR - the lane of float has no room for -1",
          "2026-01-02 03:04:05.678 | ERROR    | lanes.pool:take:61 - the lane of int8 has no room "
          "for 2",
          "[rank3]: LaneError: the lane of torch.float32 has no room for 1, 2, 3",
          "E0102 03:04:05.678901 4711 pool.cc:45] the lane of f32 has no room for 3x4",
          " 12%|##   | 3/25 [00:04<00:30,  1.39s/it]RuntimeError: the lane of Half has no room for "
          "7",
          "(Worker pid=4711) lanes error: the lane of float has no room for 9 at /x/y/pool.cpp:12",
          "libc++abi: terminating due to uncaught exception of type lanes::Error: the lane of "
          "float has no room for 9.",
          "Error Domain=LaneErrorDomain Code=3 \"the lane of float has no room for 9\" "
          "UserInfo={NSLocalizedDescription=the lane of float has no room for 9}",
          "Terminating app due to uncaught exception 'NSLaneException', reason: 'the lane of float "
          "has no room for 9'",
          "C++ exception with description \"the lane of float has no room for 9\" thrown in SetUp",
          "`RuntimeError: the lane of float has no room for 9`",
          "RuntimeError: the lane of float has no room for 9. Please close other lanes. Or not.",
          "FAILED test_lanes.py::test_take - RuntimeError: the lane of float has no room for 9",
          "worker left early: lanes.LaneError: the lane of float has no room for 9",
      }) {
    EXPECT_EQ(clause_title(line), plain) << line;
  }
}

TEST(ClauseTitle, KeepsWhatItNeedsToSayAnything) {
  EXPECT_EQ(clause_title("KeyError: 'lane'"), "KeyError: lane");
  // Two words are enough to go without the type.
  EXPECT_EQ(clause_title("RuntimeError: Unknown mode: 3"), "Unknown mode");
  EXPECT_EQ(clause_title("error: Unknown mode: 12"), "Unknown mode");
  EXPECT_EQ(clause_title("[lanes::take] Unable to map a lane"),
            "[lanes::take] Unable to map a lane");
  EXPECT_EQ(clause_title(""), "");
}

TEST(ClauseTitle, ReadsTheMessageInARecordOfRusts) {
  EXPECT_EQ(clause_title("Error: Pool(Error { code: Failure, msg: \"every lane is taken now\" })"),
            "every lane is taken now");
  EXPECT_EQ(clause_title("loc: error: 'mps.take' op has no lane"), "mps.take op has no lane");
}

TEST(ClauseTitle, KeepsOperatorsApart) {
  EXPECT_NE(clause_title("Could not run 'aten::lanes' with arguments from the 'MPS' backend"),
            clause_title("Could not run 'aten::pools' with arguments from the 'MPS' backend"));
  EXPECT_NE(clause_title("lanes gone: status=LANE_LOST"),
            clause_title("lanes gone: status=LANE_ODD"));
  EXPECT_NE(clause_title("lane index (3) is beyond the pool"),
            clause_title("lane length (3) is beyond the pool"));
}

TEST(NormaliseTitle, MasksNamesThatVary) {
  EXPECT_EQ(normalise_title("Vertex Function(main0): no room for argument lanes.1[2]"),
            "Vertex Function(N): no room for argument N");
  EXPECT_EQ(normalise_title("no lane for lanes.pool.12.take.weight, lanes.3.bias"),
            "no lane for N");
  EXPECT_EQ(normalise_title("take_lane not implemented for 'Long'"),
            "take_lane not implemented for <type>");
  EXPECT_EQ(normalise_title("expected scalar type Int but found Double"),
            "expected scalar type <type> but found <type>");
  EXPECT_EQ(normalise_title("Int lanes, no Long ones in lane-3.pt"),
            "Int lanes, no <type> ones in <file>");
  EXPECT_EQ(normalise_title("Model type pool3_moe.v2 has no lane"), "Model type N has no lane");
  EXPECT_EQ(normalise_title("no lane of libpool.3.dylib and pool.py"),
            "no lane of libpool.N.dylib and pool.py");
  EXPECT_EQ(normalise_title("no lane of archive data/104: gone"),
            "no lane of archive data/N: gone");
  EXPECT_EQ(normalise_title("Unable to load kernel lane_take_q4_0_f32_bm64_bn32 of the pool"),
            "Unable to load kernel lane_take_N of the pool");
  EXPECT_EQ(normalise_title("format MTLPixelFormatRGBA8Unorm of lane (laneTexture[0]) differs"),
            "format MTLPixelFormat of lane differs");
  EXPECT_EQ(normalise_title("no lane no lane no lane for 12 x 13"), "no lane for N");
  EXPECT_EQ(normalise_title("see https://lanes.example/1?x=2 for it"), "see <url> for it");
  EXPECT_EQ(normalise_title("LANE_FAILED when calling `laneTake(handle, a, &b, 3)`"),
            "LANE_FAILED when calling laneTake(...)");
  // What tells bugs apart stays.
  EXPECT_EQ(normalise_title("free(): odd lane (fast)"), "free(): odd lane (fast)");
  EXPECT_EQ(normalise_title("cannot run (MUL_MAT) here"), "cannot run (MUL_MAT) here");
  EXPECT_EQ(normalise_title("no symbol __ZN4lane17h64_f32_takeEv in it"),
            "no symbol __ZN4lane17h64_f32_takeEv in it");
}

TEST(ClauseTitle, EndsInFrontOfWhatWasFoundInstead) {
  for (const char* line : {
           "expected a lane of pool 3, but got pool",
           "expected a lane of pool 3, got 4",
           "expected a lane of pool 3 (got Lane)",
           "expected a lane of pool 3; received 4 of them",
           "expected a lane of pool 3 but instead found Lane (7)",
           "expected a lane of pool 3. Got: pool",
           "expected a lane of pool 3, but found4 of them",
           "expected a lane of pool 3! Found Lane",
       }) {
    EXPECT_EQ(clause_title(line), "expected a lane of pool N") << line;
  }
  EXPECT_EQ(clause_title("expected Lane, got Pool"), "expected Lane");
  // Where too little would be left, and where it is no value.
  EXPECT_EQ(clause_title("Lane, got Pool here"), "Lane, got Pool here");
  EXPECT_EQ(clause_title("take() of the pool got an unexpected lane"),
            "take() of the pool got an unexpected lane");
  EXPECT_EQ(clause_title("no lane of it found in the pool"), "no lane of it found in the pool");
}

TEST(NormaliseTitle, LeavesOutWhatUsersNamed) {
  const std::pair<const char*, const char*> same[] = {
      {"undefined value lane", "undefined value pool_of_lanes"},
      {"No such serialized tensor 'lane.weight'", "No such serialized tensor 'pool.0.bias'"},
      {"Error(s) in loading state_dict for Lane: 3 of them",
       "Error(s) in loading state_dict for Pool: 12 of them"},
      {"size mismatch for lane.weight: copying", "size mismatch for bias: copying"},
      {"Method take is not defined", "Method give is not defined"},
      {"Could not find schema for lanes::take", "Could not find schema for pools::give"},
      {"timed out after 300ms, keys: /lane/1", "timed out after 300ms, keys: ready"},
      {"inputs ([lane]) are missing from the feed ([pool])",
       "inputs ([a, b]) are missing from the feed ([c])"},
      {"map(take, in=(3), ...) got one lane", "map(give, in=3, ...) got one lane"},
      {"Output 0 of TakeBackward0 is a lane", "Output 0 of Take is a lane"},
      {"wants a lane of int32/int64", "wants a lane of int64"},
      {"lane of shape float32[2,3] is gone", "lane of shape float32[] is gone"},
      {"cannot make a lane of shape (3,)", "cannot make a lane of shape (2, 4)"},
      {"cannot make a lane of 1.5 TiB of it", "cannot make a lane of 512. MiB of it"},
      {"wants a lane but got Double", "wants a lane but got Int"},
      {"Invalid mode of the pool: 'thin'", "Invalid mode of the pool: 'full'"},
      {"cannot take lane.Float as parameter 'weight' of it",
       "cannot take lane.Float as parameter 'bias' of it"},
      {"No such file or directory [part.tmp]", "No such file or directory [/pool/a.bin]"},
      {"cannot remove the lanes: Operation not permitted [pool]",
       "cannot remove the lanes: Operation not permitted [lane]"},
      {"equation of lanes 'ij,jk->ik' is none", "equation of lanes 'ab->a' is none"},
      {"mode of lanes must be 'a', 'b' or 'c'", "mode of lanes must be 'b'"},
      {"no lanes in blocks here: File \"lane.py\", line 3",
       "no lanes in blocks here: File \"pool.py\", line 12"},
      {"no lanes file at ./lanes", "no lanes file at lanes"},
      {"lane (Float) and pool (Int) differ", "lane (Double) and pool (long) differ"},
      {"'bool' object is no lane", "'int' object is no lane"},
      {"hook of lanes not found in Lane(a=1, b=2)", "hook of lanes not found in Pool(a=1, b=2)"},
      {"wants a lane of type Long", "wants a lane of type Bool"},
      {"argument 'lane' (position 1) must be Tensor, not list",
       "argument 'lane' (position 2) must be Tensor, not numpy.ndarray"},
      {"Constraints violated (lane)! For more", "Constraints violated (pool)! For more"},
      {"annotated as having type str but is a lane",
       "annotated as having type List[int] but is a lane"},
      {"Expected Tensor but got String", "Expected Tensor but got GenericDict"},
      {"an operator (lanes::take(Tensor a, int b) -> Tensor) came twice",
       "an operator (pools::give() -> ()) came twice"},
      {"no such file of lanes: D:/lanes/a.bin", "no such file of lanes: /pool/b.bin"},
      {"take() has not been given for the Lane<int>. Subclass Pool instead",
       "take() has not been given for the Lane<int>"},
      {"the lane cannot view Byte as Int here", "the lane cannot view Float as Int here"},
      {"linalg.inv: (Batch element 3): The lane is zero", "linalg.inv: The lane is zero"},
      {"Could not run 'lanes::take' with arguments from",
       "Could not run 'p::give' with arguments from"},
      {"Invalid device string: 'cuda:x'", "Invalid device string: 'lane'"},
      {"take() is missing value for argument 'a'. Declaration: take(int a) -> Tensor",
       "give() is missing value for argument 'b'. Declaration: give(Tensor b) -> ()"},
      {"the lane holds either `inf` or nothing", "the lane holds either 3 or nothing"},
      {"Can't pickle local object 'take.<locals>.give'", "Can't get local object 'A.b.<locals>.c'"},
      {"wait timeout after 300ms, keys: /a, /b", "wait timeout after 5000ms, keys: /c"},
      {"no lane of shape torch.Size([2, 3]) here", "no lane of shape torch.Size([]) here"},
      {"no lane of shape [] here", "no lane of shape (2, 3, 4) here"},
      {"lanes[-1] is none of the pool's", "lanes[12] is none of the pool's"},
      {"wants a lane of layout torch.strided", "wants a lane of layout torch.sparse_coo"},
      {"wants a lane of layout Strided", "wants a lane of layout SparseCsr"},
      {"no lane of torch.bool in it", "no lane of torch.float32 in it"},
      {"no lane of CPUFloatType in it", "no lane of SparseCUDALongType in it"},
      {"cannot convert Int to a lane", "cannot convert double to a lane"},
      {"wants a lane of Half, Float or Double", "wants a lane of Float"},
      {"wants a lane on CPU, CUDA and XPU", "wants a lane on CPU and CUDA"},
      {"no lane type mps in it", "no lane type cuda:1 in it"},
      {"<function take at 0x7f12ab> is no lane", "<lanes.Pool object at 0x5512> is no lane"},
      {"128 is no lane of the pool", "7 is no lane of the pool"},
      {"the pool does not support layout Sparse", "the pool does not support layout Strided"},
      {"odd size: [3] for a lane of it", "odd size: [2, 3] for a lane of it"},
      {"no lane of {[]} in it", "no lane of {[2]} in it"},
      {"no lane of mode=fast, count=3", "no lane of mode=wide, count=12"},
      {"no lane of mode=fast, must be one of wide",
       "no lane of mode=wide, must be one of thin, odd"},
      {"[enforce fail at pool.cc:12] lane.size <= room. 12 vs 3",
       "[enforce fail at /lanes/pool.cc:45] lane.size <= room. 9 vs 4. Is it the same lane?"},
      // What one release writes and another does not.
      {"the width of a lane (3) and of its pool ([2, 3])", "the width of a lane and of its pool"},
      {"no such mode of the pool: 3", "no such mode of the pool"},
      {"a lane's lenght must by one of the pool's", "a lane's length must be one of the pool's"},
      {"MALFORMED INPUT: no lane in the pool", "no lane in the pool"},
      {"wants a input, not an tuple of lanes", "wants an input, not a tuple of lanes"},
  };
  for (const auto& [one, other] : same) {
    EXPECT_EQ(clause_title(one), clause_title(other)) << one;
  }
  EXPECT_NE(normalise_title("an operator (aten::take(Tensor a) -> Tensor) came twice"),
            normalise_title("an operator (aten::give(Tensor a) -> Tensor) came twice"));
  // An operator that was looked for in vain is the user's word, one that failed is the library's.
  EXPECT_EQ(normalise_title("Could not find schema for aten::take"),
            normalise_title("Could not find schema for aten::give"));
  EXPECT_NE(normalise_title("Could not run aten::take with lanes"),
            normalise_title("Could not run aten::give with lanes"));
  EXPECT_NE(normalise_title("Method of take is gone"), normalise_title("Method of give is gone"));
  // What a library has.
  for (const std::string form :
       {"no lane is left for function '%'", "'%' not implemented for lanes here",
        "could not run '%' on the lanes", "no module named '%' is here",
        "a lane has no attribute '%' of lanes", "KeyError: '%'", "no lane left for 'lanes::%'"}) {
    const auto with = [&form](const char* name) {
      return normalise_title(std::string(form).replace(form.find('%'), 1, name));
    };
    EXPECT_NE(with("take"), with("give")) << form;
  }
  EXPECT_EQ(normalise_title("as long as the lane is"), "as long as the lane is");
}

TEST(LogPrefix, IsWhatALoggerPutsInFront) {
  const auto rest = [](std::string_view line) { return line.substr(log_prefix_length(line)); };
  for (const char* prefix : {
           "2026-01-02T03:04:05.678Z ",
           "2026-01-02 03:04:05.678901+0100 lanes[12:3456] ",
           "2026-01-02 03:04:05.678 | ERROR    | lanes.pool:take:61 - ",
           "2026-01-02 03:04:05,678 - lanes.pool - ERROR - ",
           "2026-01-02T03:04:05.678901234Z stderr F ",
           "02/Jan/2026 03:04:05 lanes[1] ERR ",
           "2026/01/02 03:04:05 lanes-2 main E ",
           "26-01-02 03:04:05,678 [pool-3] E ",
           "Jan  2 03:04:05 host lanes[12]: ",
           "lanes-1  | ",
           "[rank0]: ",
           "(Worker pid=12) ",
           "[ERROR] ",
           "> > ",
           "- ",
           "E       ",
           "",
       }) {
    EXPECT_EQ(rest(std::string(prefix) + "the pool is dry"), "the pool is dry") << prefix;
  }
  // What messages begin with.
  for (const char* line : {"ERROR: the pool", "objc[12]: the pool", "lane[0] is", "length(4) must",
                           "12 lanes", "-[Lane take]:12: failed", "[lanes::take] the pool",
                           "libc++abi: the pool", "pool.cpp:12: gone"}) {
    EXPECT_EQ(log_prefix_length(line), 0U) << line;
  }
  EXPECT_EQ(rest("  \n2026-01-02 03:04:05 x"), "\n2026-01-02 03:04:05 x");
}

TEST(FindFailures, ReadsWhatALogWroteLineByLine) {
  const std::string prefix = "2026-01-02T03:04:05.678Z ";
  const std::string text = prefix + "-[MTLLanePool take]:12: failed assertion `Take Validation\n" +
                           prefix + "lane width (7) is beyond the pool.\n" + prefix + "'\n";
  const std::vector<Finding> findings = find_failures(text);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "assertion: lane size is beyond the pool");
}

TEST(FindFailures, ReadsAValidationsFirstLineHoweverItIsLaidOut) {
  const std::string expected = "assertion: lane(N) must be in the pool";
  for (const char* text : {
           "-[MTLLane take]:12: failed assertion `Take Validation\nlane(laneA) must be in the "
           "pool.\n'\n",
           "-[MTLLane take]:12: failed assertion `Take Validation lane(laneB) must be in the "
           "pool.'\n",
           "-[MTLLane take]:12: failed assertion `Take Validation\n\nlane(laneA) must be\nin the "
           "pool.\nlane(laneB) must be in the pool.\n'",
           "[MTLLane take], line 12: error 'Take Validation\nlane(7) must be in the pool.\n",
           "7 taker-a -[MTLLane take]:12: failed assertion `Take Validation\n9 taker-a lane(7) "
           "must be "
           "in "
           "the pool.\n",
       }) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, expected) << text;
  }
  // The heading alone, as a cut report has it.
  EXPECT_EQ(find_failures("-[MTLLane take]:12: failed assertion `Take Validation")[0].title,
            "assertion: Take Validation");
}

TEST(FindFailures, ReadsOneConditionFromEveryLibrarysAssertion) {
  for (const char* text : {
           "lanes: pool.cpp:12: void take(): Assertion `lane < 4' failed.\n",
           "Assertion failed: (lane < 4), function take, file pool.cpp, line 12.\n",
           "Assertion failed: lane < 4, file pool.cpp, line 12\n",
           "pool.cu:12: take: block: [0,0,0], thread: [1,0,0] Assertion lane < 4 failed.\n",
           "/x/ggml-pool.c:12: GGML_ASSERT(lane < 4) failed\n",
           "GGML_ASSERT: /x/ggml-pool.c:12: lane < 4\n",
           "GGML_ASSERT(lane < 4) failed\n",
           "-[MTLLane take]:12: failed assertion lane < 4\n",
       }) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, "assertion: lane < N") << text;
  }
}

TEST(FindFailures, LeavesOutWhatPytestExpectedToFail) {
  const std::string told = "lanes.py::take - CUDA error: device-side assert triggered\n";
  EXPECT_EQ(find_failures("FAILED " + told).size(), 1U);
  EXPECT_EQ(find_failures("XFAIL " + told).size(), 0U);
}

TEST(FindFailures, ReadsTheConditionBehindAProgramsOwnWords) {
  const std::string failed =
      " INTERNAL ASSERT FAILED at \"/lanes/pool.h\":12, please report a bug "
      "to PyTorch. Expected a lane";
  const auto title = [](const std::string& text) {
    const std::vector<Finding> findings = find_failures(text);
    return findings.empty() ? "" : findings.front().title;
  };
  const std::string told = title("  what():  isLane()" + failed);
  EXPECT_THAT(told, testing::EndsWith("isLane()"));
  EXPECT_EQ(title("ERROR: exception in main: isLane()" + failed), told);
  // A condition that says nothing.
  EXPECT_THAT(title("  what():  0" + failed), testing::EndsWith("Expected a lane"));
}

TEST(FindFailures, ReadsWhatTheInterpretersStoryEndsIn) {
  const std::vector<Finding> findings = find_failures(
      "terminate called after throwing an instance of 'c10::Error'\n"
      "  what():  The following operation failed in the TorchScript interpreter.\n"
      "Traceback of TorchScript (most recent call last):\n"
      "  return lanes[k]\n         ~~~~~~ <--- HERE\nRuntimeError: no lane is left\n\n"
      "Exception raised from take at /lanes/pool.cpp:12 (most recent call first):\n");
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings.front().title, testing::HasSubstr("no lane is left"));
}

TEST(FindFailures, AnErrorOfMpsGraphIsOneBugWhetherItsCompilerGaveUpOrNot) {
  const auto error = [](const std::string& operation) {
    return "loc(\"" + operation +
           "\"(\"(mpsFileLoc): /AppleInternal/x/MPSGraphUtilities.mm\":228:0)): error: lane "
           "'tensor<2x3xf32>' is taken\n";
  };
  const std::string gave_up = "LLVM ERROR: Failed to infer result type(s).\n";
  const std::vector<Finding> survived = find_failures(error("mps_take"));
  const std::vector<Finding> ended = find_failures(error("mps_take") + gave_up);
  ASSERT_EQ(survived.size(), 1U);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(survived[0].title, "MPSGraph: mps_take: lane tensor is taken");
  EXPECT_EQ(ended[0].title, survived[0].title);
  EXPECT_EQ(survived[0].text_class, TextClass::exception);
  EXPECT_EQ(ended[0].text_class, TextClass::abort_message);
  // Of another operation it is another bug.
  EXPECT_NE(find_failures(error("mps_leave")).at(0).title, survived[0].title);
  EXPECT_EQ(find_failures(gave_up).at(0).title, "LLVM ERROR: Failed to infer result type(s)");
}

TEST(FindFailures, AModuleThatFailedVerificationIsTitledByWhatTheVerifierSaid) {
  const std::string said = "'mps.take' op lanes differ 3 & 5\n";
  const std::string located =
      "loc(\"mps_take\"(\"(mpsFileLoc): /AppleInternal/x/MPSGraphUtilities.mm\":2:0)): error: ";
  const std::string ended =
      "MPSGraphExecutable.mm:12: failed assertion `original module failed verification'\n";
  for (const std::string& text : {said, said + ended, located + said, located + said + ended}) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, "MPSGraph: mps.take op lanes differ N & N") << text;
  }
  EXPECT_EQ(find_failures(ended).at(0).title, "assertion: original module failed verification");
}

TEST(FindFailures, LeavesOutTheUsersFilesAndWhatWasCalledInTheSource) {
  const auto title = [](const std::string& message) { return normalise_title(message); };
  EXPECT_EQ(title("no room for /Users/x/lane-7.safetensors"),
            title("no room for /home/y/z/pool.safetensors"));
  EXPECT_NE(title("no room for /x/liblane.dylib"), title("no room for /x/libpool.dylib"));
  EXPECT_EQ(title("no lane is left (take at /opt/x/Lane.cpp:69)"), "no lane is left");
}

TEST(FindFailures, ReadsWhyACommandBufferEndedHoweverItIsNumbered) {
  for (const char* text : {
           "Execution of the command buffer was aborted due to an error during execution. Lane "
           "Collapse (IOAF code 77)\n",
           "[METAL] Command buffer execution failed: Lane Collapse (0000004d:kIOGPULane)\n",
           "Error: command buffer exited with error status.\n\tMay be incomplete.\n\tError:\n\t("
           "null)\n\tLane Collapse (0000004d:kIOGPULane)\n",
       }) {
    const std::vector<Finding> findings = find_failures(text);
    ASSERT_EQ(findings.size(), 1U) << text;
    EXPECT_EQ(findings[0].title, "command buffer: Lane Collapse") << text;
  }
  // A program's source.
  EXPECT_TRUE(find_failures("msg << \"Command buffer execution failed: \" << text;\n").empty());
}

TEST(FindFailures, TitlesByTheErrorOfAnotherLibrary) {
  const auto title = [](const char* text) { return find_failures(text).at(0).title; };
  const std::string expected = "[lanes::take] No room for N in the pool";
  EXPECT_EQ(title("Lanes/Pool.swift:3: Fatal error: [lanes::take] No room for 3 in the pool\n"),
            expected);
  EXPECT_EQ(title("thread 'main' panicked at src/pool.rs:3:4:\ncalled `Result::unwrap()` on an "
                  "`Err` value: Lane { what: \"[lanes::take] No room for 3 in the pool\\nat x\" }"),
            expected);
  EXPECT_EQ(title("terminate called after throwing an instance of 'lanes::Error'\n  what():  "
                  "[lanes::take] No room for 3 in the pool\n"),
            expected);
  EXPECT_EQ(title("Pool.swift:3: Fatal error: Index out of range: file Pool.swift, line 3\n"),
            "Swift: Index out of range");
}

TEST(FindFailures, SaysWhyALibraryCouldNotBeLoaded) {
  const auto titles = [](const char* text) {
    std::string all;
    for (const Finding& finding : find_failures(text)) all += finding.title + "\n";
    return all;
  };
  EXPECT_EQ(titles("ImportError: dlopen(/x/lane.so, 2): Symbol not found: (_lane_take)\n"),
            "symbol not found: _lane_take\n");
  EXPECT_EQ(titles("dyld[12]: symbol not found in flat namespace '_lane_take'\n"),
            "symbol not found: _lane_take\n");
  EXPECT_EQ(titles("ImportError: dlopen(/x/lane.so, 2): no reason\n"), "cannot load lane.so\n");
}

TEST(ClauseTitle, ReadsAWrittenExceptionToItsEnd) {
  EXPECT_EQ(clause_title("LaneError(\"Lane ['take', '-v'] returned a wrong lane of it\")"),
            clause_title("Lane ['take', '-v'] returned a wrong lane of it"));
}

TEST(LastWords, KnowAMessageThatStandsAlone) {
  EXPECT_EQ(last_words("pool of 3\nCompleted handler provided after commit call\nbye\n"),
            "assertion: Completed handler provided after commit call");
}

TEST(LastWords, AreWhatTheLogItselfCallsAnError) {
  EXPECT_EQ(last_words("22.11.2026 09:41:32 poold[2] INFO three lanes are in the pool\n"
                       "22.11.2026 09:41:33 poold[2] ERR lanes take ones of 2D alone\n"
                       "22.11.2026 09:41:34 poold[2] INFO three lanes were in the pool\n"),
            "lanes take ones of N alone");
}

TEST(LastWords, AreAboveWhereLibTorchRaisedThem) {
  EXPECT_EQ(last_words("loading\ntake only lanes of 1D for pools\nException raised from take at "
                       "/lanes/pool.cpp:12 (most recent call first):\n"
                       "frame #0: take + 0x1 (0x2 in libpool.so)\n"),
            "take only lanes of N for pools");
}

TEST(LastWords, StandBelowAWordThatOnlyAnnouncesThem) {
  EXPECT_EQ(last_words("loading\nfatal: \ntoo many lanes: 3 of them\n"),
            "too many lanes: N of them");
}

TEST(LastWords, PreferTheLineThatNamesItsError) {
  EXPECT_EQ(last_words("lanes failed to start\nLaneError: the pool has run dry\n"),
            "the pool has run dry");
  EXPECT_EQ(last_words("An uncaught exception was raised\nLanes must be taken in order\n"),
            "Lanes must be taken in order");
  EXPECT_EQ(last_words("the pool has failed\nAborted (core dumped)\n[1]    47 abort  lanes\n"),
            "the pool has failed");
}

TEST(LastWords, AreWhatTheCrashReportSays) {
  EXPECT_EQ(last_words("Application Specific Information:\nlane 12 was taken twice\n\n"
                       "Thread 3 Crashed:\n0   liblane.dylib  0x1 take + 3\n"),
            "lane N was taken twice");
}

TEST(GoesOn, OnlyWhereAPageBrokeTheLine) {
  const std::string line = "the pool has run dry since every lane of the device was taken by";
  EXPECT_TRUE(goes_on(line, "another thread, which did not end"));
  EXPECT_FALSE(goes_on(line, "Another line"));
  EXPECT_FALSE(goes_on(line, "zsh: abort"));
  EXPECT_FALSE(goes_on(line, "python(12) malloc"));
  EXPECT_FALSE(goes_on(line, "lanes/pool.py"));
  EXPECT_FALSE(goes_on(line, "lane = pool.take()"));
  EXPECT_FALSE(goes_on(line, "(Lane 3)"));
  EXPECT_FALSE(goes_on(line, "frame #0"));
  EXPECT_FALSE(goes_on(line, "at take (lane.js:3:4)"));
  EXPECT_TRUE(goes_on(line, "at least two lanes"));
  EXPECT_TRUE(goes_on(line, "'lane.take()' in it"));
  EXPECT_TRUE(goes_on(line, "lane.is_free() is false"));
  EXPECT_FALSE(goes_on(line + ".", "another thread"));
  EXPECT_FALSE(goes_on("short", "another thread"));
  EXPECT_FALSE(goes_on("", ""));
}

}  // namespace
}  // namespace mpsprobe
