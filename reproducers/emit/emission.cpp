#include "reproducers/emit/emission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "harness/input/input_error.h"
#include "harness/wire/axis.h"
#include "reproducers/emit/kinds.h"
#include "reproducers/emit/parameter_block.h"
#include "reproducers/emit/program_text.h"
#include "reproducers/emit/recipes.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// What the placeholders of a recipe stand for.
class Filling {
 public:
  Filling(const Recipe& recipe, const Cell& cell) {
    sizes_ = sizes_of(cell, recipe.shape);
    if (sizes_.size() > 1) root_ = std::to_string(rounded_root(recipe));
    tolerance_ = cell.dtype == "float16" ? "2e-2" : cell.dtype == "bfloat16" ? "1e-1" : "1e-3";
  }

  const std::string& tolerance() const { return tolerance_; }

  std::string operator()(std::string_view recipe) const {
    return filled(recipe, sizes_, {{'R', root_}, {'E', tolerance_}});
  }

 private:
  // Sums of that many products of normal samples are near one when divided by it.
  long rounded_root(const Recipe& recipe) const {
    double terms = std::stod(sizes_[1]);
    if (recipe.op == "conv1d") terms *= std::stod(sizes_.back());
    if (recipe.op == "conv2d") terms *= std::stod(sizes_.back()) * std::stod(sizes_.back());
    return std::lround(std::max(1.0, std::sqrt(terms)));
  }

  std::vector<std::string> sizes_;
  std::string root_ = "1";
  std::string tolerance_;
};

// "at::randn({8, 64}) / 8" as Python: torch.randn(8, 64) / 8.
std::string in_python(std::string text) {
  const std::pair<std::string_view, std::string_view> kWords[] = {
      {"at::", "torch."}, {"({", "("}, {"})", ")"}};
  for (const auto& [from, to] : kWords) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

// A weight of the other layout makes LibTorch take MPSGraph: the same numbers, transposed twice.
std::string turned(std::string weights) {
  for (size_t at = 0; (at = weights.find("at::randn({", at)) != std::string::npos;) {
    const size_t comma = weights.find(", ", at);
    const size_t end = weights.find("})", at);
    at += std::string_view("at::randn({").size();
    if (comma > end) continue;  // a bias
    const std::string rows = weights.substr(at, comma - at);
    const std::string columns = weights.substr(comma + 2, end - comma - 2);
    weights.replace(at, end + 2 - at, columns + ", " + rows + "}).t()");
  }
  return weights;
}

std::string_view torch_type(const std::string& dtype) {
  const std::pair<std::string_view, std::string_view> kTypes[] = {{"float16", "at::kHalf"},
                                                                  {"bfloat16", "at::kBFloat16"},
                                                                  {"int32", "at::kInt"},
                                                                  {"int64", "at::kLong"}};
  for (const auto& [name, type] : kTypes) {
    if (dtype == name) return type;
  }
  return "at::kFloat";
}

const char* why_not_common(const Cell& cell) {
  if (cell.backend == Backend::cuda) return "the cell is of the backend cuda";
  if (cell.op.starts_with("selftest.")) return "the cell is of a self-test";
  if (cell.processes > 1 && cell.threads == 1) {
    return "the cell fails with several processes of one thread each, and the program is one "
           "process";
  }
  return nullptr;
}

std::string several(const Filling& fill, std::string_view launch) {
  if (launch == "raw") {
    return fill(
        "[](In x, In, size_t) {\n"
        "  const at::Tensor a = at::randn({$0, $1}, x[0].options());\n"
        "  const at::Tensor b = at::randn({$1, $2}, x[0].options());\n"
        "  return Tensors{a, b, at::relu(at::mm(a, b))};\n}");
  }
  if (launch == "unary_mix") {
    return "[](In, In w, size_t thread) {\n"
           "  at::Tensor (*const all[])(const at::Tensor&) = {\n"
           "      at::tanh, at::abs,  at::sin,   at::cos, at::tan,  at::asin,  at::acos, "
           "at::atan,\n"
           "      at::sqrt, at::rsqrt, at::neg, at::exp2, at::log10, at::log2, at::log};\n"
           "  return Tensors{all[thread % std::size(all)](w[0])};\n}";
  }
  return fill(
      "[](In x, In, size_t) {\n"
      "  const auto as = [&](auto t) { return x[0].options().dtype(x[0].dtype() == at::kDouble ? "
      "at::kDouble : t); };\n"
      "  const auto f = as(at::kFloat), h = as(at::kHalf), i = as(at::kInt);\n"
      "  const at::Tensor a = at::linspace(0, 1, $0, f), b = at::linspace(0, 1, $0, h);\n"
      "  return Tensors{at::arange($0, f), a, at::sum(a), at::arange($0, h), b, at::sum(b), "
      "at::arange($0, i), at::sum(at::arange($0, i))};\n}");
}

Emission libtorch(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::libtorch};
  const Recipe* const recipe = find_recipe(cell.op);
  if (const char* const reason = why_not_common(cell)) emission.why_not = reason;
  if (recipe == nullptr) emission.why_not = "there is no recipe for the operation " + cell.op;
  if (cell.backend == Backend::metal) emission.why_not = "the cell is of Apple's frameworks alone";
  if (!emission.possible()) return emission;
  const Filling fill(*recipe, cell);
  const fs::path folder = request.programs / "libtorch";
  ParameterBlock block(read_program(folder / "reproducer.cpp"),
                       (folder / "reproducer.cpp").string());
  set_common(block, request);
  block.set("kFirstInThreads", bool_of(cell.init == Init::threads));
  block.set("kWarmUp", bool_of(cell.warmup == Warmup::main));
  block.set("kSyncEach", bool_of(cell.sync == Sync::each));
  block.set("kSharedWeights", bool_of(cell.model == ModelSharing::shared));
  block.set("kType", torch_type(cell.dtype));
  block.set("kTolerance", recipe->op == "randn" ? "0.5" : fill.tolerance());
  block.set("inputs", fmt::format("[] {{ return Tensors{{{}}}; }}", fill(recipe->inputs)));
  std::string weights = fill(recipe->weights);
  if (cell.path == Path::graph && recipe->linear) weights = turned(weights);
  block.set("weights", fmt::format("[] {{ return Tensors{{{}}}; }}", weights));
  const std::string launch = fill(recipe->launch);
  if (launch.find('(') == std::string::npos) {
    block.set("launch", several(fill, launch));
  } else {
    const bool uses_weights = launch.find("w[") != std::string::npos;
    block.set("launch", fmt::format("[](In x, In{}, size_t) {{ return Tensors{{{}}}; }}",
                                    uses_weights ? " w" : "", launch));
  }
  if (cell.op == "empty") {
    block.set("expected", "[](In, In, size_t, In) { return Tensors{}; }");
  } else if (!recipe->expected.empty()) {
    block.set("expected", fmt::format("[](In, In, size_t, In got) {{ return Tensors{{{}}}; }}",
                                      fill(recipe->expected)));
  }
  const bool streams = cell.stream == StreamUse::per_thread;
  const bool own_streams = streams && cell.backend == Backend::mps;
  if (own_streams) {
    block.set("enter_thread", "[] { at::mps::setCurrentMPSStream(at::mps::getStreamFromPool()); }");
  }
  std::string headers;
  if (own_streams || cell.wait == WaitFor::stream) headers = "#include <ATen/mps/MPSStream.h>\n";
  // The calls that scenarios/backends/mps.cpp makes for the same cell.
  if (cell.wait == WaitFor::stream) {
    block.set("synchronise",
              "[] {  // on the stream's own queue, as torch.mps.Stream.synchronize\n"
              "  at::mps::MPSStream* const stream = at::mps::getCurrentMPSStream();\n"
              "  dispatch_sync_f(stream->queue(), stream, [](void* it) {\n"
              "    const auto how = at::mps::SyncType::COMMIT_AND_WAIT;\n"
              "    static_cast<at::mps::MPSStream*>(it)->synchronize(how);\n"
              "  });\n}");
  } else if (cell.wait == WaitFor::event) {
    headers = "#include <ATen/detail/MPSHooksInterface.h>\n" + headers;
    block.set("synchronise",
              "[] {  // as torch.mps.Event\n"
              "  const at::MPSHooksInterface& mps = at::detail::getMPSHooks();\n"
              "  const uint32_t event = mps.acquireEvent(false);\n"
              "  mps.recordEvent(event);\n"
              "  mps.synchronizeEvent(event);\n"
              "  mps.releaseEvent(event);\n}");
  }
  std::string text = block.text();
  const std::string_view before = "#include <ATen/ATen.h>\n";
  text.insert(text.find(before) + before.size(), headers);
  emission.files = {
      {"reproducer.cpp", headed(request, "//", text)},
      {"CMakeLists.txt", headed(request, "#", read_program(folder / "CMakeLists.txt"))}};
  emission.build = "cmake -B build && cmake --build build";
  emission.run = "build/reproducer";
  say_common(emission, cell);
  say(emission, streams && cell.backend != Backend::mps, "stream", cell,
      "there are streams on MPS alone; the simulated device's profile says who has which");
  say(emission, cell.init == Init::threads && cell.model == ModelSharing::shared, "init", cell,
      "each thread uploads the weights for itself");
  say(emission, cell.wait == WaitFor::item, "wait", cell, "the whole device is waited for");
  say(emission, cell.sync == Sync::never, "sync", cell, "each thread waits once, at its end");
  say_once(emission, cell);
  say_rest(emission, cell,
           {"threads", "iterations", "shape", "dtype", "stream", "init", "warmup", "sync", "wait",
            "model", "lock"});
  return emission;
}

Emission python(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::python};
  const Recipe* const recipe = find_recipe(cell.op);
  if (const char* const reason = why_not_common(cell)) emission.why_not = reason;
  if (recipe == nullptr || recipe->python_launch.empty()) {
    emission.why_not = "no short Python says the operation " + cell.op;
  }
  if (cell.backend == Backend::metal) emission.why_not = "the cell is of Apple's frameworks alone";
  if (!emission.possible()) return emission;
  const Filling fill(*recipe, cell);
  const fs::path path = request.programs / "python" / "reproducer.py";
  ParameterBlock block(read_program(path), path.string());
  std::string type = cell.dtype == "default" ? "float32" : cell.dtype;
  block.set("THREADS, ITERATIONS, ATTEMPTS, SYNC_EACH, DTYPE",
            fmt::format("{}, {}, {}, {}, torch.{}", cell.threads, cell.iterations,
                        std::min<size_t>(runs_for(request), 50),
                        cell.sync == Sync::each ? "True" : "False", type));
  block.set("inputs", "lambda: [" + in_python(fill(recipe->inputs)) + "]");
  std::string weights = fill(recipe->weights);
  if (cell.path == Path::graph && recipe->linear) weights = turned(weights);
  block.set("weights", "lambda: [" + in_python(weights) + "]");
  block.set("launch", "lambda x, w: " + fill(recipe->python_launch));
  block.set("right", "lambda got, x, w: " +
                         (recipe->python_right.empty()
                              ? fmt::format("torch.allclose(got.cpu(), launch(x, w), {0}, {0})",
                                            fill.tolerance())
                              : fill(recipe->python_right)));
  emission.files = {{"reproducer.py", headed(request, "#", block.text())}};
  emission.run = "python3 reproducer.py";
  say_common(emission, cell);
  say(emission, cell.stream == StreamUse::per_thread, "stream", cell,
      "Python has streams of MPS since 2.15, and the program uses none");
  say(emission, cell.init == Init::threads, "init", cell, "the device is touched on main first");
  say(emission, cell.warmup == Warmup::main, "warmup", cell,
      "nothing is launched before the first attempt; those after it are warm");
  say(emission, cell.lock == Lock::forward, "lock", cell, "nothing is locked");
  say(emission, cell.model == ModelSharing::per_thread, "model", cell,
      "the threads share their weights");
  say_once(emission, cell);
  say_rest(emission, cell, {"threads", "iterations", "shape", "dtype", "sync"});
  return emission;
}

Emission metal(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  if (is_compute_cell(cell) && why_not_common(cell) == nullptr) return emit_compute(request);
  Emission emission{.kind = Kind::metal};
  const Recipe* const recipe = find_recipe(cell.op);
  if (const char* const reason = why_not_common(cell)) emission.why_not = reason;
  if (recipe == nullptr || recipe->graph_build.empty()) {
    emission.why_not = "what LibTorch does for " + cell.op + " is not written out for Metal";
  } else if (cell.dtype != "default" && cell.dtype != "float32") {
    emission.why_not = "the programs for Metal have float32 alone, and the cell has " + cell.dtype;
  }
  if (!emission.possible()) return emission;
  const Filling fill(*recipe, cell);
  const bool kernel = recipe->op == "linear" && cell.path != Path::graph;
  const fs::path path = request.programs / "metal" / (kernel ? "kernel.mm" : "graph.mm");
  ParameterBlock block(read_program(path), path.string());
  set_common(block, request);
  block.set("kSharedQueue", bool_of(cell.queue == QueueUse::shared));
  if (kernel) {
    block.set("kSyncEach", bool_of(cell.sync == Sync::each));
    block.set("kBatch", fill("$0, kIn = $1, kOut = $2"));
  } else {
    block.set("kInputs", "{" + fill(recipe->graph_inputs) + "}");
    block.set("kResult", "{" + fill(recipe->graph_result) + "}");
    if (!recipe->graph_input.empty()) block.set("input", element(fill(recipe->graph_input)));
    block.set("expected", element(fill(recipe->graph_expected)));
    if (recipe->op != "linear") {
      block.set("build", "[](MPSGraph* g, const Tensors& in) {\n  return " +
                             fill(recipe->graph_build) + ";\n}");
    }
  }
  emission.files = {{"reproducer.mm", headed(request, "//", block.text())}};
  emission.build =
      "clang++ -std=c++20 -fno-objc-arc -framework Foundation -framework CoreGraphics -framework "
      "Metal -framework MetalPerformanceShaders -framework MetalPerformanceShadersGraph "
      "reproducer.mm -o reproducer";
  emission.run = "./reproducer";
  say_of_metal(emission, cell);
  say(emission, cell.model == ModelSharing::per_thread && kernel, "model", cell,
      "the threads share their weights");
  say(emission, !kernel && cell.sync == Sync::end, "sync", cell,
      "each command buffer is waited for");
  say_once(emission, cell);
  say_rest(emission, cell, {"threads", "iterations", "shape", "dtype", "queue", "sync", "lock"});
  return emission;
}

Emission mpsprobe_itself(const EmissionRequest& request) {
  Emission emission{.kind = Kind::mpsprobe};
  emission.run =
      fmt::format("mpsprobe run --cell {} --trials {}", to_string(request.cell), runs_for(request));
  return emission;
}

}  // namespace

std::vector<Emission> emit(const EmissionRequest& request) {
  if (is_own_code(request)) return {emit_own_code(request), mpsprobe_itself(request)};
  if (request.cell.backend == Backend::mlx) {
    return {emit_mlx(request), emit_mlx_python(request), mpsprobe_itself(request)};
  }
  return {metal(request), libtorch(request), python(request), mpsprobe_itself(request)};
}

std::string simulated_watermark(const Cell& cell) {
  return fmt::format("SIMULATED (profile {}): no evidence about Apple's software.", cell.profile);
}

}  // namespace mpsprobe
