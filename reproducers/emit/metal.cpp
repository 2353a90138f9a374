#include <fmt/format.h>
#include <shaders/kernels_text.h>

#include <algorithm>
#include <iterator>

#include "reproducers/emit/program.h"
#include "reproducers/emit/recipes.h"

namespace mpsprobe {
namespace {

/// How the program dispatches the kernel of an operation. Static storage.
struct Dispatch {
  std::string_view op;
  std::string_view shape;  ///< sizes where the cell leaves them at their default
  std::string_view kernel;
  int arrays = 0;
  size_t stride = 1;        ///< elements of an array for each of the result
  std::string_view number;  ///< set behind the result, with its type; may be empty
  std::string_view input;   ///< of the first array, and of the result
  std::string_view expected;
};

constexpr Dispatch kDispatches[] = {
    {"add", "100x100", "add_arrays", 2, 1, "", "x", "x + 1"},
    {"relu", "64x64", "relu_array", 1, 1, "", "i % 2 == 0 ? x : -x", "i % 2 == 0 ? x : 0"},
    {"zeros", "100x100", "fill_array", 0, 1, "float number = 0", "x", "0 * x"},
    {"axpy", "262144", "axpy", 2, 1, "float number = 2", "x", "2 * x + 1"},
    {"sin", "1000000", "sine", 1, 1, "", "x", "std::sin(x)"},
    {"strided_copy", "262144", "strided_copy", 1, 3, "unsigned number = 3",
     "static_cast<float>(i % 7) * x", "static_cast<float>(3 * i % 7) * x"},
};

const Dispatch* find_dispatch(std::string_view op) {
  const auto* const found = std::find_if(std::begin(kDispatches), std::end(kDispatches),
                                         [&](const Dispatch& each) { return each.op == op; });
  return found == std::end(kDispatches) ? nullptr : found;
}

/// What of Apple's frameworks the cell is about.
enum class Layer : uint8_t { none, compute, ndarray, graph };

Layer layer_of(const Cell& cell) {
  const Recipe* const recipe = find_recipe(cell.op);
  const bool has_graph = recipe != nullptr && !recipe->graph_build.empty();
  // A Metal kernel of one's own: on the backend metal as there (scenarios/metal/kernels.mm),
  // elsewhere where no graph says the operation.
  if (find_dispatch(cell.op) != nullptr &&
      (!has_graph || (cell.backend == Backend::metal && cell.path != Path::graph))) {
    return Layer::compute;
  }
  if (cell.op == "linear" && cell.path != Path::graph) return Layer::ndarray;
  return has_graph ? Layer::graph : Layer::none;
}

// The kernel alone, word for word: what the simulated device takes as well.
std::string text_of(std::string_view kernel) {
  const std::string_view all = kKernelsText;
  const size_t begin = all.find(fmt::format("kernel void {}(", kernel));
  return std::string(all.substr(begin, all.find("\n}\n", begin) + 2 - begin));
}

// A shape of a recipe as an array literal of Objective-C.
std::string shape_literal(std::string_view sizes) {
  return fmt::format("@[ @({}) ]", replaced(std::string(sizes), {{", ", "), @("}}));
}
std::string product(std::string_view sizes) {
  return replaced(std::string(sizes), {{", ", " * "}});
}
// `value` as a function of the index.
std::string element(std::string_view value) {
  const bool uses_index = value.find("i ") != std::string_view::npos;
  return fmt::format("[&](size_t{}) {{ return {}; }}", uses_index ? " i" : "",
                     value == "-1" || value == "1" ? fmt::format("{}.0F", value) : value);
}
std::string buffer(std::string_view name, std::string_view elements, std::string_view value) {
  return fmt::format("id<MTLBuffer> {} = filled(device, {}, {});", name, elements, element(value));
}

/// What differs between the three ways to put work on the device.
struct Way {
  std::string header = "Metal/Metal.h";
  std::string frameworks;
  std::string elements;  ///< of the result
  std::string expected;
  ProgramLines shared;     ///< made by main
  ProgramLines own;        ///< of each thread
  ProgramLines begin;      ///< opens a command buffer, and an encoder
  ProgramLines encode;     ///< one launch
  ProgramLines end;        ///< closes and commits them
  bool waits_each = true;  ///< it cannot leave its command buffer open
};

Way compute_way(const Cell& cell, const Dispatch& dispatch) {
  Way way;
  const std::string elements = filled("$P", sizes_of(cell, dispatch.shape));
  way.elements = elements;
  way.expected = dispatch.expected;
  way.own.add(
      "NSError* error = nil;\nid<MTLComputePipelineState> pipeline =\n    [device "
      "newComputePipelineStateWithFunction:function error:&error];");
  const std::string all =
      dispatch.stride == 1 ? elements : fmt::format("{} * {}", dispatch.stride, elements);
  for (int i = 0; i < dispatch.arrays; ++i) {
    way.own.add(buffer(fmt::format("in{}", i), all, i == 0 ? dispatch.input : "1"));
  }
  way.begin.add("id<MTLCommandBuffer> commands = [queue commandBuffer];")
      .add("id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];");
  way.encode.add("[encoder setComputePipelineState:pipeline];");
  for (int i = 0; i < dispatch.arrays; ++i) {
    way.encode.add(fmt::format("[encoder setBuffer:in{0} offset:0 atIndex:{0}];", i));
  }
  way.encode.add(fmt::format("[encoder setBuffer:out offset:0 atIndex:{}];", dispatch.arrays));
  if (!dispatch.number.empty()) {
    way.own.add(fmt::format("const {};", dispatch.number));
    way.encode.add(fmt::format("[encoder setBytes:&number length:sizeof(number) atIndex:{}];",
                               dispatch.arrays + 1));
  }
  way.encode.add(fmt::format(
      "[encoder dispatchThreads:MTLSizeMake({}, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, "
      "1)];",
      elements));
  way.end.add("[encoder endEncoding];").add("[commands commit];");
  way.waits_each = false;
  return way;
}

Way ndarray_way(const Cell& cell, const Recipe& recipe) {
  const auto sizes = sizes_of(cell, recipe.shape);
  const auto fill = [&](std::string_view text) { return filled(text, sizes); };
  Way way{.header = "MetalPerformanceShaders/MetalPerformanceShaders.h",
          .frameworks = " -framework MetalPerformanceShaders"};
  way.elements = fill("$0 * $2");
  way.expected = fill("$1 * x + 1");
  way.shared.add(buffer("weight", fill("$2 * $1"), "1")).add(buffer("bias", fill("$0 * $2"), "1"));
  way.own.add(buffer("input", fill("$0 * $1"), "x"))
      .add(
          "MPSNDArrayMatrixMultiplication* kernel =\n    [[MPSNDArrayMatrixMultiplication alloc] "
          "initWithDevice:device sourceCount:3];");
  way.begin.add("MPSCommandBuffer* both = [MPSCommandBuffer commandBufferFromCommandQueue:queue];")
      .add("id<MTLCommandBuffer> commands = [both rootCommandBuffer];")
      .add("id<MTLComputeCommandEncoder> encoder = [both computeCommandEncoder];");
  way.encode.add(
      fill("NSArray* sources = @[\n  array(input, @[ @($0), @($1) ], false), "
           "array(weight, @[ @($2), @($1) ], true),\n  array(bias, @[ @($0), @($2) ], "
           "false)\n];\n[kernel encodeToCommandEncoder:encoder commandBuffer:both "
           "sourceArrays:sources\n              destinationArray:array(out, @[ @($0), "
           "@($2) ], false)];"));
  way.end.add("[encoder endEncoding];").add("[both commit];");
  way.waits_each = false;
  return way;
}

Way graph_way(const Cell& cell, const Recipe& recipe) {
  const auto sizes = sizes_of(cell, recipe.shape);
  const auto fill = [&](std::string_view text) { return filled(text, sizes); };
  Way way{
      .header = "MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h",
      .frameworks = " -framework MetalPerformanceShaders -framework MetalPerformanceShadersGraph"};
  way.elements = product(fill(recipe.graph_result));
  way.expected = fill(recipe.graph_expected);
  way.own.add("MPSGraph* graph = [[MPSGraph alloc] init];");
  std::string feeds;
  const std::string shapes = fill(recipe.graph_inputs) + "; ";
  int index = 0;
  for (size_t at = 0, end = 0; (end = shapes.find("; ", at)) != std::string::npos;
       at = end + 2, ++index) {
    const std::string shape = shapes.substr(at, end - at);
    const std::string first = recipe.graph_input.empty() ? "x" : fill(recipe.graph_input);
    way.own
        .add(fmt::format("MPSGraphTensor* in{} = [graph placeholderWithShape:{}\n"
                         "                                            "
                         "dataType:MPSDataTypeFloat32 name:nil];",
                         index, shape_literal(shape)))
        .add(fmt::format("MPSGraphTensorData* data{} = data(filled(device, {}, {}), {});", index,
                         product(shape), element(index == 0 ? first : "1"), shape_literal(shape)));
    feeds += fmt::format("{}in{} : data{}", index == 0 ? "" : ", ", index, index);
  }
  way.own.add(fmt::format("MPSGraphTensor* result = {};", fill(recipe.graph_build)));
  way.begin.add("MPSCommandBuffer* both = [MPSCommandBuffer commandBufferFromCommandQueue:queue];")
      .add("id<MTLCommandBuffer> commands = [both rootCommandBuffer];");
  way.encode.add(fmt::format(
      "[graph encodeToCommandBuffer:both feeds:@{{{}}} targetOperations:nil\n"
      "           resultsDictionary:@{{result : data(out, {})}} executionDescriptor:nil];",
      feeds, shape_literal(fill(recipe.graph_result))));
  // MPSGraph may commit by itself and go on in another command buffer.
  way.end.add("id<MTLCommandBuffer> last = [both rootCommandBuffer];")
      .add("[both commit];")
      .add("[last waitUntilCompleted];");
  return way;
}

}  // namespace

std::string api_of_metal(const Cell& cell) {
  const Layer layer = layer_of(cell);
  if (layer == Layer::compute) return "MTLComputeCommandEncoder";
  const Recipe* const recipe = find_recipe(cell.op);
  const bool linear = recipe != nullptr && recipe->linear;
  if (linear && cell.path != Path::graph) return "MPSNDArrayMatrixMultiplication";
  return layer == Layer::graph || linear ? "MPSGraph" : "";
}

Emission emit_metal(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::metal, .why_not = why_no_program(cell)};
  const Recipe* const recipe = find_recipe(cell.op);
  const Dispatch* const dispatch = find_dispatch(cell.op);
  const Layer layer = layer_of(cell);
  const bool compute = layer == Layer::compute;
  const bool ndarray = layer == Layer::ndarray;
  if (emission.possible() && layer == Layer::none) {
    emission.why_not = "what LibTorch does for " + cell.op + " is not written out for Metal";
  } else if (emission.possible() && cell.dtype != "default" && cell.dtype != "float32") {
    emission.why_not = "the programs for Metal have float32 alone, and the cell has " + cell.dtype;
  }
  if (!emission.possible()) return emission;
  const Way way = compute   ? compute_way(cell, *dispatch)
                  : ndarray ? ndarray_way(cell, *recipe)
                            : graph_way(cell, *recipe);
  const bool each = way.waits_each || cell.sync == Sync::each;
  const bool shared_queue = cell.queue == QueueUse::shared;
  const bool locked = cell.lock == Lock::forward;
  ProgramLines by_main, before, launch, after_loop, ending;
  constexpr std::string_view kQueue = "id<MTLCommandQueue> queue = [device newCommandQueue];";
  by_main.add(way.shared).add(kQueue, shared_queue).add("std::mutex lock;", locked);
  const std::string out = buffer("out", way.elements, "-1");
  const bool numbers = request.outcome == Outcome::wrong_result;
  // Another number for each thread.
  before.add("const float x = static_cast<float>(t + 1) / 16;",
             numbers || std::string(way.own).find(" x") != std::string::npos);
  before.add(kQueue, !shared_queue).add(way.own).add(out, !each);
  ending.add(way.end)
      .add("turn.unlock();", locked && each)
      .add("[commands waitUntilCompleted];")
      .add("if ([commands status] != MTLCommandBufferStatusCompleted) failed = true;");
  if (numbers) {
    ending.add("const auto* numbers = static_cast<const float*>([out contents]);")
        .add(fmt::format("for (size_t i = 0; i < {}; ++i) {{", way.elements))
        .add(fmt::format("  const float right = {};", way.expected))
        .add("  if (std::fabs(numbers[i] - right) <= 1e-3F * (1 + std::fabs(right))) continue;")
        .add(
            "  std::printf(\"thread %d, index %zu: expected %g, got %g\\n\", t, i, right, "
            "numbers[i]);")
        .add("  failed = true;\n  break;\n}");
  }
  before.add(way.begin, !each);
  launch.add(out, each)
      .add("std::unique_lock<std::mutex> turn(lock);", locked)
      .add(way.begin, each)
      .add(way.encode)
      .add(ending, each);
  after_loop.add(ending, !each);
  emission.build =
      "clang++ -std=c++20 -fobjc-arc -framework Foundation -framework CoreGraphics -framework "
      "Metal" +
      way.frameworks + " reproducer.mm -o reproducer";
  const bool computes =
      (std::string(ending) + std::string(before)).find("std::") != std::string::npos;
  const std::string text = compose(
      request, "metal.mm.mustache",
      {{"build", emission.build},
       {"cmath", computes ? "yes" : ""},
       {"header", way.header},
       {"captures", std::string(before).find("(t + 1)") == std::string::npos ? "&" : "&, t"},
       {"compute", compute ? "yes" : ""},
       {"kernel_text", compute ? text_of(dispatch->kernel) : ""},
       {"kernel", compute ? std::string(dispatch->kernel) : ""},
       {"ndarray", ndarray ? "yes" : ""},
       {"graph", !compute && !ndarray ? "yes" : ""},
       {"by_main", by_main},
       {"before_start", before},
       {"launch", launch},
       {"after_loop", after_loop}});
  emission.files = {{"reproducer.mm", text}};
  emission.run = "./reproducer";
  say_rest(emission, cell, {"dtype", "queue", way.waits_each ? "" : "sync", "lock"});
  return emission;
}

}  // namespace mpsprobe
