#include "harness/title/title.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "harness/title/clause.h"

namespace mpsprobe {
namespace {

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
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

TEST(NormaliseTitle, LeavesOutWhatUsersNamed) {
  EXPECT_EQ(normalise_title("Permission denied: '/home/u/lanes'"),
            normalise_title("Permission denied: '/tmp/run_7'"));
  EXPECT_EQ(normalise_title("hook '<lambda>' has changed the size of value"),
            normalise_title("hook 'keep_lanes' has changed the size of value"));
  EXPECT_EQ(normalise_title("no lane in pool.conf"), normalise_title("no lane in lanes.conf"));
  EXPECT_EQ(normalise_title("no lane on u0 > 5 (unhinted: u0 > 5). (Lanes: none)"),
            normalise_title("no lane on u0 > 7"));
  EXPECT_EQ(normalise_title("index 7 beyond bounds [0 .. 3]"),
            normalise_title("index 0 beyond bounds for empty array"));
  EXPECT_NE(normalise_title("Library not loaded: /L/Lanes.framework/Lanes"),
            normalise_title("Library not loaded: /L/Pool.framework/Pool"));
  EXPECT_EQ(normalise_title("cannot connect to localhost:80: no lane"),
            normalise_title("cannot connect to 10.0.0.1:8080: no lane"));
  EXPECT_NE(normalise_title("cannot connect to LaneService"),
            normalise_title("cannot connect to PoolService"));
  EXPECT_EQ(normalise_title("no lane a1b2c3 in the pool"),
            normalise_title("no lane f00d77a in the pool"));
  EXPECT_NE(normalise_title("no fc1000 in the pool"), normalise_title("no fc2048 in the pool"));
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
      {"member call on null pointer of type 'struct Lane'",
       "member call on null pointer of type 'lanes::Pool'"},
      {"critical lane (at pool.cpp:take()) is odd", "critical lane (at unknown:unknown()) is odd"},
      {"Unable to convert lane 3 of type 'Pool' to Python object",
       "Unable to convert lane 3 to Python object"},
      {"no lane 3 for type 'float [4][8]' here", "no lane 7 for type 'int8[4]' here"},
      {"cannot write lanes.json of the pool", "cannot write run17.txt of the pool"},
      {"Could not infer dtype of NoneType", "Could not infer dtype of generator"},
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

TEST(NormaliseTitle, LeavesOutElementTypesThatAreGluedToTheWordInFront) {
  EXPECT_EQ(normalise_title("no lane of dtypeFloat left"),
            normalise_title("no lane of dtypeBFloat16 left"));
  EXPECT_EQ(normalise_title("lanes are not supported:Bool"),
            normalise_title("lanes are not supported:Long"));
}

TEST(NormaliseTitle, KnowsATypeAsEitherCompilerNamesIt) {
  EXPECT_EQ(normalise_title("member call on null pointer of type 'const struct Lane'"),
            normalise_title("member call on null pointer of type 'Pool'"));
  EXPECT_EQ(normalise_title("index 8 out of bounds for type 'long int [8]'"),
            normalise_title("index 3 out of bounds for type 'long[4]'"));
  EXPECT_EQ(normalise_title("a lane of type 'unsigned int' is wide"),
            normalise_title("a lane of type 'unsigned long' is wide"));
}

// How it is worded hangs on how many overloads a release has.
TEST(NormaliseTitle, IsTheSameHoweverACallOfAnOperatorIsRefused) {
  const std::string refused = "matmul() received an invalid combination of arguments";
  for (const char* other : {"matmul() missing 1 required positional arguments: \"other\"",
                            "matmul() takes 2 positional arguments but 3 were given",
                            "matmul(): argument 'other' (position 1) must be Tensor, not int",
                            "matmul() got an unexpected keyword argument 'lanes'"}) {
    EXPECT_EQ(normalise_title(other), refused) << other;
  }
  // What newer releases put in front of a product's message is no part of it, another's name is.
  EXPECT_EQ(normalise_title("mm: mat1 and mat2 shapes cannot be multiplied"),
            normalise_title("mat1 and mat2 shapes cannot be multiplied"));
  EXPECT_EQ(normalise_title("hspmm: mat2 must be a matrix"), "hspmm: mat2 must be a matrix");
  // A program's own function is none.
  EXPECT_NE(normalise_title("take_lane() takes 2 positional arguments but 3 were given"),
            normalise_title("take_lane() got an unexpected keyword argument 'lanes'"));
  EXPECT_EQ(normalise_title("\"addmm_impl_cpu_\" not implemented for 'Half'"),
            normalise_title("\"addmm_cpu\" not implemented for 'Long'"));
}

TEST(NormaliseTitle, MasksDevices) {
  const std::string title = "one device, not <device>";
  EXPECT_EQ(normalise_title("one device, not cuda:1 and cpu!"), title);
  EXPECT_EQ(normalise_title("one device, not 'mps:0'"), title);
  EXPECT_EQ(normalise_title("one lane of device 'mps:0' and 'meta'"),
            "one lane of device <device>");
  EXPECT_EQ(normalise_title("lane(device=cpu) and pool(device='mps:0')"),
            normalise_title("lane(device='cuda:3') and pool(device=cpu)"));
  // What is no device among others.
  EXPECT_EQ(normalise_title("no meta lane of cuda_pool, mps.lane or torch.cpu"),
            "no meta lane of cuda_pool, mps.lane or torch.cpu");
  EXPECT_EQ(normalise_title("lane not in MPS device"), "lane not in MPS device");
}

TEST(NormaliseTitle, LeavesOutWhatDiffersFromRunToRun) {
  EXPECT_EQ(normalise_title("dimension index (2) not within number of dimensions (17)"),
            "dimension index not within number of dimensions");
  EXPECT_EQ(normalise_title("AGX::SpillInfoGen3<AGX::HAL300::Encoders, true>::allocate + 32"),
            "AGX::SpillInfoGen3::allocate + N");
  EXPECT_EQ(normalise_title("-[AGXG16XFamilyComputeContext setBuffer:offset:atIndex:] + 0x3b90"),
            "-[AGXFamilyComputeContext setBuffer:offset:atIndex:] + N");
  EXPECT_EQ(
      normalise_title("/AppleInternal/BuildRoots/4~B5vF/Sources/MPSCore/MPSNDArray.mm:130: x"),
      "MPSNDArray.mm: x");
  EXPECT_EQ(normalise_title("at \"/Users/runner/work/a/MPSStream.mm\":12, please"),
            "at MPSStream.mm, please");
  EXPECT_EQ(normalise_title("python[88968:35288312] id 420094F6-EAA6-4AFE-A719-B8C9AD969665 gone"),
            "python id N gone");
  EXPECT_EQ(normalise_title("victim of GPU error/recovery, 3.5GiB/s of float16"),
            "victim of GPU error/recovery, N/s of <type>");
  EXPECT_EQ(normalise_title("\x1b[1mcaf\xc3\xa9\n\t\xff  x"), "caf? ? x");
  EXPECT_EQ(normalise_title(""), "");
}

TEST(NormaliseTitle, IsBoundedPrintableAndStableForAnyBytes) {
  std::mt19937 random(7);
  const std::string alphabet = "aG9f0x<>/.:-[](){}~@% '`\"\n\x1b\xff\xc3_,AGXG16XF+=N";
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    const size_t length = random() % 300;
    for (size_t k = 0; k < length; ++k) {
      text += i % 3 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    }
    const std::string title = normalise_title(text);
    ASSERT_TRUE(printable(title)) << title;
    ASSERT_LE(title.size(), 160U);
    ASSERT_EQ(normalise_title(title), title) << text;
  }
}

}  // namespace
}  // namespace mpsprobe
