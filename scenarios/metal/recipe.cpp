#include "scenarios/metal/recipe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/wire/cell.h"

namespace mpsprobe::metal {
namespace {

constexpr std::string_view kProduct = "rows x inner x columns";

// One step over arrays of the same sizes.
template <StepKind Kind, size_t Inputs>
Recipe elementwise(const Sizes& sizes) {
  Recipe recipe{.values = std::vector<Sizes>(Inputs + 1, sizes), .inputs = Inputs};
  recipe.steps.push_back({Kind, {}});
  for (size_t input = 0; input < Inputs; ++input) recipe.steps[0].sources.push_back(input);
  return recipe;
}

const MetalOperation kOperations[] = {
    {.name = "linear",
     .summary = "x w^T + b, b being a matrix: MPSNDArrayMatrixMultiplication, or MPSGraph",
     .source = "reports 000, 001, 002",
     .shape = "8x64x64",
     .dimensions = "batch x in x out",
     .rounding = Rounding::accumulated,
     .chooses_path = true,
     .has_parameters = true,
     .recipe =
         [](const Sizes& sizes) {
           const int64_t batch = sizes[0];
           const int64_t in = sizes[1];
           const int64_t out = sizes[2];
           return Recipe{.values = {{batch, in}, {out, in}, {batch, out}, {batch, out}},
                         .inputs = 1,
                         .parameters = 2,
                         .steps = {{StepKind::linear, {0, 1, 2}}}};
         }},
    {.name = "mm",
     .summary = "torch.mm(a, b): MPSGraph",
     .source = "report 002",
     .shape = "64x64x64",
     .dimensions = kProduct,
     .rounding = Rounding::accumulated,
     .recipe =
         [](const Sizes& sizes) {
           return Recipe{
               .values = {{sizes[0], sizes[1]}, {sizes[1], sizes[2]}, {sizes[0], sizes[2]}},
               .inputs = 2,
               .steps = {{StepKind::product, {0, 1}}}};
         }},
    {.name = "add",
     .summary = "t1 + t2: a Metal kernel of its own",
     .source = "report 004",
     .shape = "100x100",
     .rounding = Rounding::elementary,
     .recipe = elementwise<StepKind::addition, 2>},
    {.name = "relu",
     .summary = "max(x, 0): a Metal kernel of its own",
     .source = "reports 000, 002",
     .shape = "64x64",
     .recipe = elementwise<StepKind::relu, 1>},
    {.name = "softmax",
     .summary = "softmax over the last dimension: MPSGraph",
     .source = "report 002",
     .shape = "64x64",
     .rounding = Rounding::transcendental,
     .recipe = elementwise<StepKind::softmax, 1>},
    {.name = "zeros",
     .summary = "a buffer of zeros: a Metal kernel of its own",
     .source = "report 004",
     .shape = "100x100",
     .recipe = elementwise<StepKind::zeros, 0>},
    {.name = "axpy",
     .summary = "a x + y: a Metal kernel of its own",
     .source = "the reports' authors by hand: a kernel of one's own",
     .shape = "262144",
     .rounding = Rounding::elementary,
     .recipe = elementwise<StepKind::axpy, 2>},
    {.name = "sin",
     .summary = "the sine of each element: a Metal kernel of its own",
     .source = "the reports' authors by hand: the sine of a million",
     .shape = "1000000",
     .rounding = Rounding::transcendental,
     .recipe = elementwise<StepKind::sine, 1>},
    {.name = "strided_copy",
     .summary = "every third element: a Metal kernel of its own",
     .source = "the reports' authors by hand: a strided copy",
     .shape = "262144",
     .recipe =
         [](const Sizes& sizes) {
           Sizes source = sizes;
           source.push_back(kCopyStride);
           return Recipe{
               .values = {source, sizes}, .inputs = 1, .steps = {{StepKind::strided_copy, {0}}}};
         }},
    {.name = "empty_commit",
     .summary = "a command buffer without any command: what committing and waiting cost alone",
     .source = "the reports' authors by hand: empty command buffers as a control",
     .shape = "1",
     .recipe = [](const Sizes&) { return Recipe{}; }},
    {.name = "raw",
     .summary = "randn, randn, mm, relu, graphs and a kernel: the reports' raw tensor operations",
     .source = "reports 000, 002",
     .shape = "64x64x64",
     .dimensions = kProduct,
     .rounding = Rounding::accumulated,
     .recipe =
         [](const Sizes& sizes) {
           const Sizes product = {sizes[0], sizes[2]};
           return Recipe{.values = {{sizes[0], sizes[1]}, {sizes[1], sizes[2]}, product, product},
                         .steps = {{StepKind::normal, {}},
                                   {StepKind::normal, {}},
                                   {StepKind::product, {0, 1}},
                                   {StepKind::relu, {2}}}};
         }},
};

}  // namespace

std::span<const MetalOperation> metal_operations() {
  return kOperations;
}

nlohmann::json describe_operation(const MetalOperation& operation) {
  nlohmann::json paths = {name_of(Path::automatic)};
  if (operation.chooses_path) {
    paths.push_back(name_of(Path::nograph));
    paths.push_back(name_of(Path::graph));
  }
  return {
      {"name", operation.name},
      {"summary", operation.summary},
      {"source", operation.source},
      {"paths", std::move(paths)},
      {"has_parameters", operation.has_parameters},
      {"dtypes", {"float32"}},
      {"shape", operation.shape},
      {"dimensions", operation.dimensions},
  };
}

const MetalOperation* find_metal_operation(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kOperations), std::end(kOperations),
                   [&](const MetalOperation& operation) { return operation.name == name; });
  return found == std::end(kOperations) ? nullptr : found;
}

}  // namespace mpsprobe::metal
