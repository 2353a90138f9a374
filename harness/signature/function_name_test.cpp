#include "harness/signature/function_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace mpsprobe {
namespace {

using ::testing::IsEmpty;

struct Spelling {
  const char* raw;
  const char* normalised;
};

TEST(NormaliseFunction, LeavesOutWhatDiffersFromBuildToBuild) {
  const Spelling spellings[] = {
      {"AGX::ComputeContext<AGX::HAL200::Encoders, AGX::HAL200::Classes, AGX::HAL200::ObjClasses, "
       "AGX::HAL200::CommandBufferClass>::prepareForEnqueue(bool)",
       "AGX::ComputeContext::prepareForEnqueue"},
      {"AGX::SpillInfoGen3<AGX::HAL300::Encoders, true>::allocateUSCSpillBuffer(bool) + 120",
       "AGX::SpillInfo::allocateUSCSpillBuffer"},
      {"void at::native::(anonymous namespace)::add_kernel<float>(at::TensorIteratorBase&)",
       "at::native::add_kernel"},
      {"at::Tensor at::_ops::linear::call(at::Tensor const&, c10::optional<at::Tensor> const&)",
       "at::_ops::linear::call"},
      {"std::__1::vector<int, std::__1::allocator<int> >::operator[](unsigned long) const",
       "std::vector::operator[]"},
      {"std::__cxx11::basic_string<char>::basic_string(char const*)",
       "std::basic_string::basic_string"},
      {"foo[abi:cxx11](int)", "foo"},
      {"run(int) [clone .cold]", "run"},
      {"run(int) [clone .isra.0] [clone .part.3]", "run"},
      {"run(int) (.llvm.123456)", "run"},
      {"run.cold.1", "run"},
      {"run.constprop.0", "run"},
      {"run.constprop", "run"},
      {"run(int) [clone ._omp_fn.0]", "run"},
      {"run(int) (.omp_outlined)", "run"},
      {"run.omp_outlined", "run"},
      {"{anonymous}::run(int)", "run"},
      {"lanes::<unnamed>::run", "lanes::run"},
      {"run(int)::{lambda(int)#2}::_FUN(int)", "run"},
      {"libtorch_cpu.dylib`lanes::run(int) + 12", "lanes::run"},
      {"run(int) (.cold.1)", "run"},
      {"decltype(auto) call<int>(int)", "call"},
      {"decltype (take<int>({parm#1})) call<int>(int)", "call"},
      {"memcpy@@GLIBC_2.14", "memcpy"},
      {"memcpy@plt", "memcpy"},
      {"mpsprobe::run() + 0x3b", "mpsprobe::run"},
      {"run(int) (in libtorch_cpu.dylib) (run.mm:12)", "run"},
      {"virtual thunk to Stream::~Stream()", "Stream::~Stream"},
      {"f(std::function<void (int)> const&, int (*)(char))", "f"},
      {"A<(B)3, (x > 2)>::g<&(C::operator>(C const&))>()", "A::g"},
  };
  for (const Spelling& spelling : spellings) {
    EXPECT_EQ(normalise_function(spelling.raw), spelling.normalised) << spelling.raw;
  }
}

TEST(NormaliseFunction, KeepsOperatorsWhole) {
  const Spelling spellings[] = {
      {"std::ostream& at::operator<<(std::ostream&, at::Tensor const&)", "at::operator<<"},
      {"bool operator< <int>(A<int> const&, A<int> const&)", "operator<"},
      {"A<int>::operator->() const", "A::operator->"},
      {"A::operator()(int) const", "A::operator()"},
      {"A::operator<=>(A const&) const", "A::operator<=>"},
      {"A::operator>>=(int)", "A::operator>>="},
      {"A::operator bool() const", "A::operator bool"},
      {"A::operator std::vector<int>() const", "A::operator std::vector"},
      {"operator new(unsigned long)", "operator new"},
      {"operator delete[](void*, unsigned long) + 12", "operator delete[]"},
      {"my_operator(int)", "my_operator"},
  };
  for (const Spelling& spelling : spellings) {
    EXPECT_EQ(normalise_function(spelling.raw), spelling.normalised) << spelling.raw;
  }
}

TEST(NormaliseFunction, CountsALambdaAndABlockAsTheFunctionTheyAreWrittenIn) {
  for (const char* raw : {
           "at::mps::run(int)::{lambda(int)#1}::operator()(int) const",
           ("at::mps::run(int)::{lambda(int)#12}::operator()(int) "
            "const::{lambda()#2}::operator()() "
            "const"),
           "at::mps::run(int) const::{lambda()#1}::operator()() const",
           "at::mps::run(int)::$_0::operator()(int) const",
           "at::mps::run(int)::$_17::operator()(int)",
           "at::mps::run(int)::'lambda3'(int)::operator()(int) const",
           "at::mps::run(int)::<lambda(int)>::operator()(int) const",
           "at::mps::run(int)::(lambda at /b/run.mm:12:3)::operator()(int) const",
           "at::mps::run(int)::(anonymous class)::operator()(int) const",
           "invocation function for block in at::mps::run(int)",
           "invocation function for block in at::mps::run(int) + 88",
       }) {
    EXPECT_EQ(normalise_function(raw), "at::mps::run") << raw;
  }
  // As LibTorch's loops call it.
  for (const char* raw : {
           "void c10::function_ref<void (char**, long)>::callback_fn<at::loop<at::native::AVX2::"
           "twice<at::mps::run(int)::{lambda()#1}::operator()() const::{lambda(int)#2}>(int)::"
           "{lambda(char**)#1}> >(long, char**, long)",
           "void at::internal::invoke_parallel<at::parallel_for<at::mps::run<float>(int const&)::"
           "{lambda(long)#1}>(long, at::mps::run<float>(int const&)::{lambda(long)#1} const&)::"
           "{lambda(long)#1}>(long, long) [clone ._omp_fn.0] + 408",
       }) {
    EXPECT_EQ(normalise_function(raw), "at::mps::run") << raw;
  }
  EXPECT_EQ(normalise_function("lanes::callback_fn<int>(int)"), "lanes::callback_fn");
  EXPECT_EQ(normalise_function("__GI___libc_write"), "write");
  EXPECT_EQ(normalise_function("_take_lane$VARIANT$armv81 + 32"), "_take_lane");
  EXPECT_EQ(normalise_function("__run_stream_block_invoke_2"), "run_stream");
  EXPECT_EQ(normalise_function("__46-[MPSGraph runWithFeeds:targets:]_block_invoke.118 + 4"),
            "-[MPSGraph runWithFeeds:targets:]");
}

TEST(NormaliseFunction, LeavesTheKindOfProcessorOut) {
  for (const char* kind : {"AVX2", "AVX512", "DEFAULT", "SVE256"}) {
    EXPECT_EQ(normalise_function("at::native::" + std::string(kind) + "::take_kernel(int)"),
              "at::native::take_kernel");
  }
  EXPECT_EQ(normalise_function("lanes::DEFAULT::take(int)"), "lanes::DEFAULT::take");
}

TEST(NormaliseFunction, LeavesTheChipOutAndNothingElse) {
  for (const char* chip : {"AGXG13X", "AGXG14X", "AGXG15X", "AGXG16X", "AGXG17X", "AGXG16S_B0"}) {
    EXPECT_EQ(normalise_function("-[" + std::string(chip) +
                                 "FamilyComputeContext setComputePipelineState:] + 32"),
              "-[AGXFamilyComputeContext setComputePipelineState:]");
  }
  EXPECT_EQ(normalise_function("AGX::G13X::Encoder<int>::end()"), "AGX::Encoder::end");
  EXPECT_EQ(normalise_function("AGX::HAL300::Encoder::end()"), "AGX::HAL::Encoder::end");
  EXPECT_EQ(normalise_function("AGX::EncoderG14::end()"), "AGX::Encoder::end");
  EXPECT_EQ(normalise_function("AGX::Generator::end()"), "AGX::Generator::end");
  EXPECT_EQ(normalise_function("at::Gen3::end()"), "at::Gen3::end");
  EXPECT_NE(normalise_function("-[AGXG16XFamilyComputeContext setBuffer:offset:atIndex:]"),
            normalise_function("-[AGXG16XFamilyRenderContext setBuffer:offset:atIndex:]"));
  EXPECT_EQ(normalise_function("-[MTLBuffer(Private) length]"), "-[MTLBuffer length]");
}

TEST(NormaliseFunction, SaysNothingWhereNoFunctionIsNamed) {
  for (const char* raw :
       {"", "???", "0x18f2b5020", "0x104400000 + 3084", "___lldb_unnamed_symbol12",
        "_mh_execute_header + 1234", "   ", "+ 32", "\xff\xfe"}) {
    EXPECT_THAT(normalise_function(raw), IsEmpty()) << raw;
  }
}

TEST(NormaliseFunction, IsBoundedAndPrintableForAnyBytes) {
  std::mt19937 random(5);
  const std::string pieces[] = {"operator", "<",          ">",         "(",
                                ")",        "::",         "{lambda(",  "#1}",
                                "$_0",      "'",          "-[",        "]",
                                " ",        "AGXG13X",    "Gen3",      "_block_invoke",
                                "__",       " const",     "[clone ",   "+ 32",
                                "a",        "B9",         "\x1b",      "\xc3",
                                ".cold",    "closure #1", " in ",      "std::__1::",
                                "HAL300",   "->",         "operator<", "\n",
                                "0x1f"};
  for (int i = 0; i < 20000; ++i) {
    std::string raw;
    for (size_t k = random() % 14; k > 0; --k) raw += pieces[random() % std::size(pieces)];
    const std::string name = normalise_function(raw);
    ASSERT_LE(name.size(), 120U) << raw;
    for (char c : name) ASSERT_TRUE(c >= 0x20 && c < 0x7f) << raw;
    ASSERT_LE(normalise_image(raw).size(), 80U) << raw;
  }
  // Deep nesting costs no more than its length.
  EXPECT_EQ(normalise_function(std::string(1 << 20, '<')), "");
  EXPECT_EQ(normalise_function("f" + std::string(1 << 20, '(')), "f");
}

TEST(NormaliseImage, LeavesOutFoldersVersionsAndChips) {
  EXPECT_EQ(normalise_image("/usr/lib/x86_64-linux-gnu/libc.so.6"), "libc.so");
  EXPECT_EQ(normalise_image("libcudart.so.13"), "libcudart.so");
  EXPECT_EQ(normalise_image("AGXMetalG16X"), "AGXMetal");
  EXPECT_EQ(normalise_image("AGXMetalG13X_B0"), "AGXMetal");
  EXPECT_EQ(normalise_image("AGXMetal13_3"), "AGXMetal");
  EXPECT_EQ(normalise_image("libtorch_cpu.dylib"), "libtorch_cpu.dylib");
  EXPECT_EQ(normalise_image(""), "");
}

TEST(NormaliseFunction, ReadsNamesThatNobodyDemangled) {
  EXPECT_EQ(normalise_function("_ZN2at3mps4syncEv + 32"), "at::mps::sync");
  EXPECT_EQ(normalise_function("__ZNK2at3mps6Stream4syncEv"), "at::mps::Stream::sync");
  EXPECT_EQ(normalise_function("_ZN3mps4PoolC1EPv"), "mps::Pool::Pool");
  EXPECT_EQ(normalise_function("_ZN3mps4PoolIN2at4HalfELi5EE4takeEv"), "mps::Pool::take");
  EXPECT_EQ(normalise_function("_ZN2wg3mtl5drain17h0123456789abcdefE"), "wg::mtl::drain");
  EXPECT_EQ(normalise_function("wg::mtl::drain::h0123456789abcdef"), "wg::mtl::drain");
  EXPECT_EQ(normalise_function("<wg::Queue as wg::Drain>::drain"), "wg::Queue::drain");
  EXPECT_EQ(normalise_function("closure #2 (Swift.Int) -> () in closure #1 in View.draw() -> ()"),
            "View.draw");
  EXPECT_EQ(normalise_function("View.size.getter : Swift.Int"), "View.size.getter");
  EXPECT_EQ(normalise_function("at::mps::sync()+0x1c"), "at::mps::sync");
  EXPECT_EQ(normalise_function("at::mps::sync:12"), "at::mps::sync");
  EXPECT_EQ(normalise_function("_ZN2atplERKNS_1AE"), "at::operator+");
  EXPECT_EQ(normalise_function("_ZN3mps4Pool4takeEv.cold"), "mps::Pool::take");
  // What is no name of C++'s stays as it is.
  EXPECT_EQ(normalise_function("_ZN2at"), "_ZN2at");
}

TEST(NormaliseImage, LeavesOutVersions) {
  EXPECT_EQ(normalise_image("/usr/lib/libfoo.so.1.2"), "libfoo.so");
  EXPECT_EQ(normalise_image("libfoo.0.9.4.dylib"), "libfoo.dylib");
  EXPECT_EQ(normalise_image("core.cpython-314-darwin.so"), "core.so");
}

}  // namespace
}  // namespace mpsprobe
