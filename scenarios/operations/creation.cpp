#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/logspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/range.h>
#include <ATen/ops/zeros.h>

#include "scenarios/operations/operation.h"

// Operations that make a tensor out of nothing. Report 004 tells them apart by what they encode:
// empty only allocates; the others are a fill, a kernel or a graph, as the release has it.

namespace mpsprobe {
namespace {

constexpr std::string_view kEmpty[] = {"aten::empty"};
constexpr std::string_view kRange[] = {"aten::range"};
constexpr std::string_view kLogspace[] = {"aten::logspace"};
constexpr std::string_view kEye[] = {"aten::eye"};
constexpr std::string_view kZeros[] = {"aten::zeros", "aten::zero_"};
constexpr std::string_view kOnes[] = {"aten::ones", "aten::fill_"};
constexpr std::string_view kFull[] = {"aten::full", "aten::fill_"};
constexpr std::string_view kRandn[] = {"aten::randn", "aten::normal_"};
constexpr std::string_view kArange[] = {"aten::arange"};
constexpr std::string_view kLinspace[] = {"aten::linspace"};

const Operation kCreation[] = {
    {
        .name = "empty",
        .summary = "allocate a tensor, encode nothing",
        .source = "report 004",
        .shape = "100x100",
        .dimensions = "any",
        .dtypes = numeric_types(),
        .verify = Verify::layout,
        .capturable = false,
        .observed_as = kEmpty,
        .run = [](const Call& call) -> Tensors { return {at::empty(call.sizes, call.options)}; },
    },
    {
        .name = "zeros",
        .summary = "a tensor of zeros (blit encoder on MPS)",
        .source = "report 004",
        .shape = "100x100",
        .dimensions = "any",
        .dtypes = numeric_types(),
        .observed_as = kZeros,
        .run = [](const Call& call) -> Tensors { return {at::zeros(call.sizes, call.options)}; },
    },
    {
        .name = "ones",
        .summary = "a tensor of ones",
        .source = "report 004",
        .shape = "100x100",
        .dimensions = "any",
        .dtypes = numeric_types(),
        .observed_as = kOnes,
        .run = [](const Call& call) -> Tensors { return {at::ones(call.sizes, call.options)}; },
    },
    {
        .name = "full",
        .summary = "a tensor filled with one value",
        .source = "report 004",
        .shape = "100x100",
        .dimensions = "any",
        .dtypes = numeric_types(),
        .observed_as = kFull,
        .run = [](const Call& call) -> Tensors { return {at::full(call.sizes, 3, call.options)}; },
    },
    {
        .name = "randn",
        .summary = "normal random numbers from the device's own generator",
        .source = "reports 002, 004",
        .shape = "64x64",
        .dimensions = "any",
        .dtypes = floating_types(),
        .verify = Verify::normal,
        .observed_as = kRandn,
        .run = [](const Call& call) -> Tensors { return {at::randn(call.sizes, call.options)}; },
    },
    {
        .name = "arange",
        .summary = "0, 1, 2 ... up to a count",
        .source = "pytorch/pytorch#197805",
        .shape = "1024",
        .dimensions = "count",
        .dtypes = numeric_types(),
        .rounding = Rounding::elementary,
        .observed_as = kArange,
        .run = [](const Call& call) -> Tensors {
          return {at::arange(call.sizes[0], call.options)};
        },
    },
    {
        .name = "linspace",
        .summary = "a count of values from -1 to 1",
        .source = "pytorch/pytorch#197805",
        .shape = "1024",
        .dimensions = "count",
        .dtypes = floating_types(),
        .rounding = Rounding::elementary,
        .observed_as = kLinspace,
        .run = [](const Call& call) -> Tensors {
          return {at::linspace(-1, 1, call.sizes[0], call.options)};
        },
    },
    {
        .name = "range",
        .summary = "1, 2 ... up to a count, by the older call that includes its end",
        .source = "pytorch/pytorch#197836",
        .shape = "1024",
        .dimensions = "count",
        .dtypes = numeric_types(),
        .rounding = Rounding::elementary,
        .observed_as = kRange,
        .run = [](const Call& call) -> Tensors {
          return {at::range(1, call.sizes[0], call.options)};
        },
    },
    {
        .name = "logspace",
        .summary = "a count of powers of ten from 0.1 to 10",
        .source = "pytorch/pytorch#197836",
        .shape = "1024",
        .dimensions = "count",
        .dtypes = floating_types(),
        .rounding = Rounding::transcendental,
        .observed_as = kLogspace,
        .run = [](const Call& call) -> Tensors {
          return {at::logspace(-1, 1, call.sizes[0], 10, call.options)};
        },
    },
    {
        .name = "eye",
        .summary = "the identity matrix",
        .source = "pytorch/pytorch#197836",
        .shape = "64",
        .dimensions = "rows",
        .dtypes = numeric_types(),
        .observed_as = kEye,
        .run = [](const Call& call) -> Tensors { return {at::eye(call.sizes[0], call.options)}; },
    },
};

}  // namespace

std::span<const Operation> creation_operations() {
  return kCreation;
}

}  // namespace mpsprobe
