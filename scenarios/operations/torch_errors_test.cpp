#include "scenarios/operations/torch_errors.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;

// Which of the worker's errors `thrown` becomes, and its text.
std::pair<std::string, std::string> becomes(const std::function<void()>& thrown) {
  try {
    with_worker_errors(thrown);
  } catch (const GpuError& error) {
    return {"gpu", error.what()};
  } catch (const OutOfMemoryError& error) {
    return {"memory", error.what()};
  } catch (const UnsupportedError& error) {
    return {"unsupported", error.what()};
  } catch (const std::exception& error) {
    return {"exception", error.what()};
  }
  return {"nothing", ""};
}

std::function<void()> cuda_error(int32_t code, const std::string& text) {
  return [=] {
    throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, code, "CUDA error: " + text);
  };
}

TEST(TorchErrors, AnErrorOfWorkThatCudaHadAcceptedIsTheDevices) {
  const auto [kind, text] = becomes(cuda_error(700, "an illegal memory access was encountered"));
  EXPECT_EQ(kind, "gpu");
  EXPECT_THAT(text, HasSubstr("an illegal memory access"));
  EXPECT_EQ(becomes(cuda_error(719, "unspecified launch failure")).first, "gpu");
  EXPECT_EQ(becomes(cuda_error(214, "uncorrectable ECC error encountered")).first, "gpu");
}

TEST(TorchErrors, ACallThatCudaRefusedIsAnException) {
  const auto [kind, text] =
      becomes(cuda_error(900, "operation not permitted when stream is capturing"));
  EXPECT_EQ(kind, "exception");
  EXPECT_THAT(text, HasSubstr("operation not permitted"));
  EXPECT_EQ(becomes(cuda_error(1, "invalid argument")).first, "exception");
}

TEST(TorchErrors, WhatMpsReportsOfTheGpuHasNoCodes) {
  EXPECT_EQ(becomes([] {
              throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, 1, "index out of range");
            }).first,
            "gpu");
}

TEST(TorchErrors, MemoryThatRanOutIsSaidAsSuch) {
  EXPECT_EQ(becomes([] {
              throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "CUDA out of memory.");
            }).first,
            "memory");
  EXPECT_EQ(becomes([] { throw std::bad_alloc(); }).first, "memory");
  EXPECT_EQ(becomes([] {
              throw c10::Error({__func__, __FILE__, __LINE__}, "MPS backend out of memory (...)");
            }).first,
            "memory");
}

}  // namespace
}  // namespace mpsprobe
