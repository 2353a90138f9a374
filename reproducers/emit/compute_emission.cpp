#include <fmt/format.h>
#include <shaders/kernels_text.h>

#include <algorithm>
#include <iterator>

#include "reproducers/emit/kinds.h"
#include "reproducers/emit/parameter_block.h"
#include "reproducers/emit/program_text.h"
#include "reproducers/emit/recipes.h"

namespace mpsprobe {
namespace {

/// How the program dispatches the kernel of an operation. Static storage.
struct Dispatch {
  std::string_view op;
  std::string_view shape;  ///< sizes where the cell leaves them at their default
  std::string_view kernel;
  int arrays = 0;
  size_t stride = 1;         ///< elements of an array for each of the result
  std::string_view numbers;  ///< what is set behind the result
  std::string_view input;    ///< of the first array, and of the result
  std::string_view expected;
};

constexpr std::string_view kNone = "std::array<float, 0>{}";
constexpr Dispatch kDispatches[] = {
    {"add", "100x100", "add_arrays", 2, 1, kNone, "x", "x + 1"},
    {"relu", "64x64", "relu_array", 1, 1, kNone, "i % 2 == 0 ? x : -x", "i % 2 == 0 ? x : 0"},
    {"zeros", "100x100", "fill_array", 0, 1, "std::array<float, 1>{0}", "x", "0 * x"},
    {"axpy", "262144", "axpy", 2, 1, "std::array<float, 1>{2}", "x", "2 * x + 1"},
    {"sin", "1000000", "sine", 1, 1, kNone, "x", "std::sin(x)"},
    {"strided_copy", "262144", "strided_copy", 1, 3, "std::array<unsigned, 1>{3}",
     "static_cast<float>(i % 7) * x", "static_cast<float>(3 * i % 7) * x"},
};

const Dispatch* find_dispatch(std::string_view op) {
  const auto* const found = std::find_if(std::begin(kDispatches), std::end(kDispatches),
                                         [&](const Dispatch& each) { return each.op == op; });
  return found == std::end(kDispatches) ? nullptr : found;
}

// The kernel alone, word for word: what the simulated device takes as well.
std::string text_of(std::string_view kernel) {
  const std::string_view all = kKernelsText;
  const size_t begin = all.find(fmt::format("kernel void {}(", kernel));
  return std::string(all.substr(begin, all.find("\n}\n", begin) + 3 - begin));
}

size_t elements_of(const Cell& cell, std::string_view usual) {
  size_t elements = 1;
  for (const std::string& size : sizes_of(cell, usual)) elements *= std::stoul(size);
  return elements;
}

}  // namespace

bool is_compute_cell(const Cell& cell) {
  if (find_dispatch(cell.op) == nullptr) return false;
  const Recipe* const recipe = find_recipe(cell.op);
  return cell.backend == Backend::metal || recipe == nullptr || recipe->graph_build.empty();
}

Emission emit_compute(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::metal};
  if (cell.dtype != "default" && cell.dtype != "float32") {
    emission.why_not = "the programs for Metal have float32 alone, and the cell has " + cell.dtype;
    return emission;
  }
  const Dispatch& dispatch = *find_dispatch(cell.op);
  const std::filesystem::path path = request.programs / "metal" / "compute.mm";
  ParameterBlock block(read_program(path), path.string());
  set_common(block, request);
  block.set("kSyncEach", bool_of(cell.sync == Sync::each));
  block.set("kSharedQueue", bool_of(cell.queue == QueueUse::shared));
  block.set("kName", fmt::format("\"{}\"", dispatch.kernel));
  const size_t elements = elements_of(cell, dispatch.shape);
  block.set("kArrays", fmt::format("{}, kArrayElements = {}, kElements = {}", dispatch.arrays,
                                   elements * dispatch.stride, elements));
  block.set("kNumbers", dispatch.numbers);
  block.set("input", element(std::string(dispatch.input)));
  block.set("expected", element(std::string(dispatch.expected)));
  std::string text = block.text();
  const std::string_view begin = "R\"metal(\n";
  const size_t from = text.find(begin) + begin.size();
  text.replace(from, text.find(")metal\"", from) - from, text_of(dispatch.kernel));
  emission.files = {{"reproducer.mm", headed(request, "//", text)}};
  emission.build =
      "clang++ -std=c++20 -fno-objc-arc -framework Foundation -framework CoreGraphics -framework "
      "Metal reproducer.mm -o reproducer";
  emission.run = "./reproducer";
  say_of_metal(emission, cell);
  say_once(emission, cell);
  say_rest(emission, cell, {"threads", "iterations", "shape", "dtype", "queue", "sync", "lock"});
  return emission;
}

}  // namespace mpsprobe
