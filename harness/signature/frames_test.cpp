#include "harness/signature/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/signature/rules.h"

namespace mpsprobe {
namespace {

using Kind = StackTitle::Kind;

StackFrame frame(std::string image, std::string function) {
  StackFrame frame;
  frame.image = std::move(image);
  frame.function = std::move(function);
  return frame;
}

TEST(TitleOfStack, IsTheInnermostFrameThatDoesNotMerelyPassThingsOn) {
  const StackTitle title = title_of_stack({
      frame("libobjc.A.dylib", "objc_msgSend"),
      frame("libtorch_cpu.dylib", "at::mps::MPSStream::commit()"),
      frame("libtorch_cpu.dylib", "at::mps::MPSStream::synchronize(at::mps::SyncType)"),
  });
  EXPECT_EQ(title,
            (StackTitle{Kind::function, "at::mps::MPSStream::commit", "libtorch_cpu.dylib"}));
}

TEST(TitleOfStack, LeavesOutAHandlerWhateverItCalled) {
  const std::vector<StackFrame> frames = {
      frame("libsystem_kernel.dylib", "__pthread_kill"),
      frame("libsystem_c.dylib", "raise"),
      frame("Python", "faulthandler_fatal_error"),
      frame("mylib.dylib", "somebody::elses::handler(int)"),
      frame("libsystem_malloc.dylib", "malloc"),
      frame("libsystem_platform.dylib", "_sigtramp"),
      frame("AGXMetalG13X", "-[AGXG13XFamilyComputeContext setComputePipelineState:]"),
  };
  EXPECT_EQ(title_of_stack(frames).function, "-[AGXFamilyComputeContext setComputePipelineState:]");
}

TEST(TitleOfStack, AJumpToNowhereIsItsCallersAndCodeOfNoImageIsNobodys) {
  const StackFrame caller = frame("libtorch_cpu.dylib", "at::mps::MPSStream::commit()");
  const StackFrame nowhere = frame("", "");
  const StackFrame passing = frame("libobjc.A.dylib", "objc_msgSend");
  EXPECT_EQ(title_of_stack({nowhere, caller}).function, "at::mps::MPSStream::commit");
  EXPECT_EQ(title_of_stack({passing, nowhere, caller}), (StackTitle{Kind::unnamed, "", ""}));
  EXPECT_EQ(title_of_stack({frame("libsystem_malloc.dylib", "free"), nowhere, caller}).kind,
            Kind::heap);
}

// Two libraries may have functions of one name.
TEST(TitleOfStack, AFreeFunctionKeepsItsNamespace) {
  const auto title = [](const char* function) {
    return title_of_stack({frame("liblane.so", function)}).function;
  };
  EXPECT_EQ(title("lanes::core::take_lane(int)"), "lanes::core::take_lane");
  EXPECT_EQ(title("pool::take_lane(int)"), "pool::take_lane");
  EXPECT_EQ(title("take_lane"), "take_lane");
}

// What a compiled module does that has no symbols shows in what it calls.
TEST(TitleOfStack, AModuleOfPythonsWithoutSymbolsPassesThingsOn) {
  const StackFrame module = frame("core.cpython-312-darwin.so", "");
  const StackFrame called = frame("liblane.so", "lanes::Pool::take(int)");
  EXPECT_EQ(title_of_stack({module, module, called}).function, "lanes::Pool::take");
  EXPECT_EQ(title_of_stack({module, module}), (StackTitle{Kind::unnamed, "", "core.so"}));
  EXPECT_EQ(title_of_stack({frame("libpool.so", ""), called}).kind, Kind::unnamed);
}

TEST(TitleOfStack, ADamagedHeapIsNobodysWhoIsOnTheStack) {
  const StackTitle title = title_of_stack({
      frame("libsystem_malloc.dylib", "tiny_malloc_from_free_list"),
      frame("libsystem_malloc.dylib", "szone_malloc_should_clear"),
      frame("libc++abi.dylib", "operator new(unsigned long)"),
      frame("libtorch_cpu.dylib", "at::empty(int)"),
  });
  EXPECT_EQ(title.kind, Kind::heap);
  EXPECT_EQ(title.function, "at::empty");
}

TEST(TitleOfStack, CommonNamesAreTheAllocatorsInItsOwnImageAlone) {
  for (const char* name : {"small_matmul", "large_matmul", "medium_matmul", "tiny_matmul",
                           "mi_step", "tc_matmul", "rack_step"}) {
    EXPECT_EQ(title_of_stack({frame("libtorch_cpu.so", name)}).kind, Kind::function) << name;
    for (const char* image : {"libsystem_malloc.dylib", "libmimalloc.so.2", "libjemalloc.so.2",
                              "libtcmalloc_minimal.so.4"}) {
      EXPECT_EQ(title_of_stack({frame(image, name)}).kind, Kind::heap) << image << " " << name;
    }
  }
}

TEST(TitleOfStack, DoesNotGuessBeyondAFrameWithoutAFunction) {
  const StackTitle title = title_of_stack({
      frame("libsystem_platform.dylib", "_platform_memmove"),
      frame("libtorch_cpu.dylib", ""),
      frame("worker", "main"),
  });
  EXPECT_EQ(title, (StackTitle{Kind::unnamed, "", "libtorch_cpu.dylib"}));
}

TEST(TitleOfStack, ALibraryWithoutSymbolsIsNamedByWhatItWasEnteredBy) {
  EXPECT_EQ(title_of_stack({
                frame("libcuda.so.1", ""),
                frame("libcuda.so.1", ""),
                frame("libcuda.so.1", "cuGraphInstantiateWithFlags"),
                frame("libcudart.so.13", "cudaGraphInstantiateWithFlags"),
            }),
            (StackTitle{Kind::entry, "cuGraphInstantiateWithFlags", "libcuda.so"}));
  // Another image in between may be the guilty one.
  EXPECT_EQ(title_of_stack({
                               frame("libcuda.so.1", ""),
                               frame("libother.so", ""),
                               frame("libcuda.so.1", "cuGraphInstantiateWithFlags"),
                           })
                .kind,
            Kind::unnamed);
}

TEST(TitleOfStack, SkipsWhatTheSystemDoesNotNameAndAJumpToNowhere) {
  EXPECT_EQ(
      title_of_stack({frame("", ""), frame("libc.so.6", ""), frame("w", "run(int)")}).function,
      "run");
  EXPECT_EQ(title_of_stack({frame("AGXMetalG16X", "<deduplicated_symbol>"), frame("w", "run(int)")})
                .function,
            "run");
}

TEST(TitleOfStack, SaysWhereNothingButPassingFunctionsIsKnown) {
  EXPECT_EQ(title_of_stack({frame("libobjc.A.dylib", "objc_release"),
                            frame("libsystem_pthread.dylib", "_pthread_start")}),
            (StackTitle{Kind::passing, "objc_release", "libobjc.A.dylib"}));
  EXPECT_EQ(title_of_stack({}).kind, Kind::none);
  EXPECT_EQ(title_of_stack({frame("", "")}).kind, Kind::none);
  EXPECT_EQ(title_of_stack({frame("libsystem_c.dylib", "abort")}).kind, Kind::none);
}

TEST(TitleOfStack, ContainersCountAsTheirUser) {
  EXPECT_EQ(title_of_stack({
                               frame("libmlx.dylib", "std::__1::__hash_table<int>::find(int)"),
                               frame("libmlx.dylib", "mlx::core::metal::Device::end(int)"),
                           })
                .function,
            "mlx::core::metal::Device::end");
}

TEST(TitleOfStack, HandlesOfTensorsCountAsTheirUser) {
  // As a build without optimisation shows it, and one with.
  EXPECT_EQ(title_of_stack({
                frame("prog",
                      "c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::"
                      "intrusive_ptr(c10::intrusive_ptr<c10::TensorImpl, "
                      "c10::UndefinedTensorImpl>&&)"),
                frame("prog", "at::TensorBase::TensorBase(at::TensorBase&&)"),
                frame("prog",
                      "decltype (::new ((void*)(0)) at::Tensor((declval<at::Tensor>)())) "
                      "std::construct_at<at::Tensor>(at::Tensor*, at::Tensor&&)"),
                frame("prog", "lanes::push_lane(at::Tensor)"),
            }),
            title_of_stack({frame("prog", "lanes::push_lane(at::Tensor)")}));
}

TEST(RecursiveFunction, IsTheSameWhereverTheStackWasCut) {
  for (size_t cut = 0; cut < 3; ++cut) {
    std::vector<StackFrame> frames = {frame("w", "leaf()")};
    for (size_t i = cut; i < 60 + cut; ++i) {
      frames.push_back(frame("w", i % 3 == 0 ? "walk(int)" : i % 3 == 1 ? "visit()" : "accept()"));
    }
    EXPECT_EQ(recursive_function(frames), "accept");
  }
}

// Compilers inline them into one another, and a worker of OpenMP's has only the innermost.
TEST(TitleOfStack, AKernelOfLibTorchsCountsAsItsOperator) {
  for (const char* function :
       {"at::native::(anonymous namespace)::nll_loss2d_backward_out_frame<float>(at::Tensor&)",
        "at::native::nll_loss2d_backward_out_cpu_template(at::Tensor&)",
        "at::native::structured_nll_loss2d_backward_out_cpu::impl(at::Tensor const&)",
        "void at::internal::invoke_parallel<at::parallel_for<at::native::(anonymous namespace)::"
        "nll_loss2d_backward_out_frame<double>(double*)::{lambda(long, long)#1}>(long)>(long)"}) {
    EXPECT_EQ(title_of_stack({frame("libtorch_cpu.so", function)}).function,
              "aten::nll_loss2d_backward")
        << function;
  }
  EXPECT_EQ(title_of_stack({frame("libtorch_cpu.so",
                                  "void at::native::(anonymous namespace)::"
                                  "GroupNormBackwardKernelImplInternal<float>(at::Tensor&)")})
                .function,
            "aten::group_norm_backward");
  EXPECT_EQ(title_of_stack({frame("libtorch_cpu.so", "at::native::")}).kind,
            StackTitle::Kind::function);
  // A backend's own, and what belongs to no operator, stay.
  EXPECT_EQ(title_of_stack({frame("libtorch_cpu.so", "at::native::mps::linear_mps(at::Tensor)")})
                .function,
            "at::native::mps::linear_mps");
}

// What kernels' names have in front and behind, and who hands calls on: names of LibTorch 2.15.0's.
TEST(TitleOfStack, AnOperatorIsFoundInEachKindOfNameThatLibTorchHas) {
  const std::pair<const char*, const char*> names[] = {
      {"void at::native::(anonymous namespace)::histogramdd_cpu_contiguous<float>(at::Tensor&)",
       "aten::histogramdd"},
      {"at::native::count_nonzero_cuda(at::Tensor const&, c10::ArrayRef<long>)",
       "aten::count_nonzero"},
      {"at::native::(anonymous namespace)::_take_along_dim_helper(at::Tensor const&)",
       "aten::take_along_dim"},
      {"at::native::abs_out_mps(at::Tensor const&, at::Tensor&)", "aten::abs"},
      {"at::native::mkldnn_adaptive_avg_pool2d_out_stub(at::Tensor const&)",
       "aten::mkldnn_adaptive_avg_pool2d"},
      {"void at::native::(anonymous namespace)::cpu_adaptive_max_pool2d<float>(at::Tensor&)",
       "aten::adaptive_max_pool2d"},
      {"at::native::AVX2::direct_copy_kernel(at::TensorIteratorBase&)", "aten::copy"},
      {"void at::native::(anonymous namespace)::cascade_sum<float>(char**)", "aten::sum"},
      {"void at::native::(anonymous namespace)::vectorized_outer_sum<float>(char**)", "aten::sum"},
      {"torch::autograd::VariableType::(anonymous namespace)::relu(c10::DispatchKeySet)",
       "aten::relu"},
      {"torch::ADInplaceOrView::(anonymous namespace)::relu_(c10::DispatchKeySet)", "aten::relu"},
      {"at::(anonymous namespace)::(anonymous namespace)::wrapper_CPU_relu(at::Tensor const&)",
       "aten::relu"},
  };
  for (const auto& [function, operation] : names) {
    EXPECT_EQ(title_of_stack({frame("libtorch_cpu.so", function)}).function, operation) << function;
  }
}

TEST(TitleOfStack, WhatWorksForAnOperatorOfLibTorchsCountsAsIt) {
  const StackFrame call =
      frame("libtorch_cpu.so", "at::_ops::cummax_out::call(at::Tensor const&, long)");
  const StackFrame user = frame("prog", "lanes::take()");
  for (const char* function : {"void at::native::pair_lanes<float>(float const*, long)",
                               "at::native::cpublas::gemm(long)", "at::mkl::sparse::mm(long)"}) {
    EXPECT_EQ(title_of_stack({frame("libtorch_cpu.so", function), call, user}).function,
              "aten::cummax")
        << function;
  }
  EXPECT_EQ(title_of_stack({frame("l", "at::_ops::mul__Scalar::call(at::Tensor&)")}).function,
            "aten::mul");
  // So does a loop over elements by itself, as OpenMP's workers run it.
  const StackTitle loop = title_of_stack(
      {frame("l", "void at::native::vectorized_inner_sum<float>(char**, long const*)"),
       frame("libgomp-a34b3233.so.1", ""), frame("libc.so.6", "start_thread")});
  EXPECT_EQ(loop.function, "aten::sum");
  EXPECT_EQ(loop.kind, StackTitle::Kind::function);
  // A kernel stands on every stack, an OpenMP worker's as well, where no operator does.
  EXPECT_EQ(title_of_stack({frame("l", "at::native::lane_walk_kernel(long)"), call}).function,
            "aten::lane_walk");
  // What the program does within an operator is its own, and so is what a backend does.
  EXPECT_EQ(title_of_stack({frame("prog", "lanes::hook()"), call}).function, "lanes::hook");
  EXPECT_EQ(title_of_stack({frame("l", "at::mps::MPSStream::commit()"), call}).function,
            "at::mps::MPSStream::commit");
}

// Of names that are the system's in its own libraries alone.
TEST(TitleOfStack, AProgramsFunctionMayBeCalledLikeTheSystems) {
  for (const char* function : {"dispatch_kernel", "thread_run", "semaphore_take", "nano_lane"}) {
    EXPECT_EQ(title_of_stack({frame("prog", function), frame("prog", "main")}).function, function);
  }
  // A lambda that a build inlined counts as the function that it is written in, and so does what
  // clang cuts out of a function for OpenMP.
  EXPECT_EQ(
      title_of_stack({frame("prog", ".omp_outlined._debug__"),
                      frame("libomp.so", "__kmp_invoke_microtask"), frame("prog", "take_lane")})
          .function,
      "take_lane");
  EXPECT_EQ(title_of_stack({frame("prog", "operator()"), frame("prog", "take_lane")}).function,
            "take_lane");
}

// Another library may be called like it.
TEST(TitleOfStack, TheCLibraryIsKnownByItsWholeName) {
  for (const char* image : {"libc-ares.so.2", "libc10.so", "libsystem_lanes.dylib"}) {
    EXPECT_EQ(
        title_of_stack({frame(image, "lanes_query"), frame("prog", "lanes::take()")}).function,
        "lanes_query")
        << image;
  }
}

TEST(TitleOfStack, WhatTheCLibraryWasGivenIsItsCallers) {
  for (const char* function : {"fread", "__vfprintf_internal", "readdir64"}) {
    EXPECT_EQ(
        title_of_stack({frame("libc.so.6", function), frame("prog", "lanes::take()")}).function,
        "lanes::take");
  }
}

// What a build inlines of a list that destroys itself node by node.
TEST(RecursiveFunction, IsTheDestructorThatAPointersCalls) {
  const std::vector<StackFrame> pointers(
      64, frame("prog",
                "std::unique_ptr<lanes::Pool<int>::Step, std::default_delete<lanes::Pool<int>"
                "::Step> >::~unique_ptr()"));
  const std::vector<StackFrame> steps(64, frame("prog", "lanes::Pool<int>::Step::~Step()"));
  EXPECT_EQ(recursive_function(pointers), "lanes::Pool::Step::~Step");
  EXPECT_EQ(recursive_function(steps), "lanes::Pool::Step::~Step");
}

TEST(RecursiveFunction, OfTheStandardLibraryIsTheOneThatItComesBackTo) {
  std::vector<StackFrame> frames;
  for (int i = 0; i < 20; ++i) {
    frames.push_back(frame("prog", "std::__detail::_Executor<char>::_M_dfs(int)"));
    frames.push_back(frame("prog", "std::__detail::_Executor<char>::_M_handle_match(int)"));
    frames.push_back(frame("prog", "std::__detail::_Executor<char>::_M_dfs(int)"));
    frames.push_back(frame("prog", "std::__detail::_Executor<char>::_M_rep_once_more(int)"));
  }
  frames.push_back(frame("prog", "lanes::take()"));
  EXPECT_EQ(recursive_function(frames), "std::__detail::_Executor::_M_dfs");
}

TEST(RecursiveFunction, IsNoneInAnOrdinaryStack) {
  std::vector<StackFrame> frames;
  for (int i = 0; i < 60; ++i) frames.push_back(frame("w", "f" + std::string(1, 'a' + i % 26)));
  EXPECT_EQ(recursive_function(frames), "");
  frames.assign(10, frame("w", "f()"));
  EXPECT_EQ(recursive_function(frames), "");
}

TEST(PassingFrames, EveryRowCanBeReached) {
  for (const PassingFrame& row : Rules::standard().frames) {
    const auto example = [](std::string_view pattern) {
      std::string text(pattern);
      for (size_t star = text.find('*'); star != std::string::npos; star = text.find('*')) {
        text.replace(star, 1, pattern == "*" ? "whatever" : "");
      }
      return text;
    };
    const PassingFrame* found = find_passing_frame(example(row.image), example(row.function));
    ASSERT_NE(found, nullptr) << row.function;
    EXPECT_EQ(found->meaning, row.meaning) << row.image << " " << row.function;
  }
  EXPECT_EQ(find_passing_frame("libtorch_cpu.so", "at::native::linear"), nullptr);
  EXPECT_EQ(find_passing_frame("worker", "freeze"), nullptr);
}

}  // namespace
}  // namespace mpsprobe
