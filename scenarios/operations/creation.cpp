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

const Operation kCreation[] = {
    {
        .name = "empty",
        .summary = "allocate a tensor, encode nothing",
        .source = "report 004",
        .shape = "100x100",
        .dtypes = numeric_types(),
        .verify = Verify::layout,
        .capturable = false,
        .observed_as = {"aten::empty"},
        .run = [](const Call& call) -> Tensors { return {at::empty(call.sizes, call.options)}; },
    },
    {
        .name = "zeros",
        .summary = "a tensor of zeros (blit encoder on MPS)",
        .source = "report 004",
        .shape = "100x100",
        .dtypes = numeric_types(),
        .observed_as = {"aten::zeros", "aten::zero_"},
        .run = [](const Call& call) -> Tensors { return {at::zeros(call.sizes, call.options)}; },
    },
    {
        .name = "ones",
        .summary = "a tensor of ones",
        .source = "report 004",
        .shape = "100x100",
        .dtypes = numeric_types(),
        .observed_as = {"aten::ones", "aten::fill_"},
        .run = [](const Call& call) -> Tensors { return {at::ones(call.sizes, call.options)}; },
    },
    {
        .name = "full",
        .summary = "a tensor filled with one value",
        .source = "report 004",
        .shape = "100x100",
        .dtypes = numeric_types(),
        .observed_as = {"aten::full", "aten::fill_"},
        .run = [](const Call& call) -> Tensors { return {at::full(call.sizes, 3, call.options)}; },
    },
    {
        .name = "randn",
        .summary = "normal random numbers from the device's own generator",
        .source = "reports 002, 004",
        .shape = "64x64",
        .verify = Verify::normal,
        .observed_as = {"aten::randn", "aten::normal_"},
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
        .observed_as = {"aten::arange"},
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
        .rounding = Rounding::elementary,
        .observed_as = {"aten::linspace"},
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
        .observed_as = {"aten::range"},
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
        .rounding = Rounding::transcendental,
        .observed_as = {"aten::logspace"},
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
        .observed_as = {"aten::eye"},
        .run = [](const Call& call) -> Tensors { return {at::eye(call.sizes[0], call.options)}; },
    },
};

}  // namespace

std::span<const Operation> creation_operations() {
  return kCreation;
}

}  // namespace mpsprobe
