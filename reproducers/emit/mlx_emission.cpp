#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reproducers/emit/kinds.h"
#include "reproducers/emit/program_text.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// An operation of the workers for MLX as the programs say it: x inputs, w weights, s the stream.
/// $0, $1 ... are the sizes, $S all of them with commas. Static storage.
struct MlxRecipe {
  std::string_view op;
  std::string_view shape;  ///< sizes where the cell leaves them at their default
  std::string_view inputs;
  std::string_view weights;
  std::string_view launch;
  std::string_view python_inputs;
  std::string_view python_weights;
  std::string_view python_launch;  ///< empty: no short Python says it
  bool random = false;             ///< the numbers differ each time
};

constexpr std::string_view kNormal = "numbers({$S}, -2, 2, k)";
constexpr std::string_view kTwo = "numbers({$S}, -2, 2, k), numbers({$S}, -1, 1, k + 99)";
constexpr std::string_view kPython = "mx.linspace(-2, 2, $P).reshape($S)";
constexpr std::string_view kPythonTwo =
    "mx.linspace(-2, 2, $P).reshape($S), mx.linspace(1, -1, $P).reshape($S)";
constexpr std::string_view kChain = "mx::sum(mx::tanh(mx::matmul(x[0], w[0], s), s), s)";
constexpr std::string_view kPythonChain =
    "mx.sum(mx.tanh(mx.matmul(x[0], w[0], stream=s), stream=s), stream=s)";
constexpr std::string_view kRow = "numbers({$0, $1}, -1, 1, k)";
constexpr std::string_view kPythonRow = "mx.linspace(-1, 1, $0 * $1).reshape($0, $1)";
constexpr std::string_view kColumn = "numbers({$1, $2}, -0.25, 0.25, k)";
constexpr std::string_view kPythonColumn = "mx.linspace(-0.25, 0.25, $1 * $2).reshape($1, $2)";

constexpr MlxRecipe chain(std::string_view op) {
  return {.op = op,
          .shape = "16x16x16",
          .inputs = kRow,
          .weights = kColumn,
          .launch = kChain,
          .python_inputs = kPythonRow,
          .python_weights = kPythonColumn,
          .python_launch = op == "compiled" || op == "async_eval" ? "" : kPythonChain};
}

constexpr std::array kMlxRecipes{
    MlxRecipe{.op = "add",
              .shape = "100x100",
              .inputs = kTwo,
              .launch = "mx::add(x[0], x[1], s)",
              .python_inputs = kPythonTwo,
              .python_launch = "mx.add(x[0], x[1], stream=s)"},
    MlxRecipe{.op = "mul",
              .shape = "100x100",
              .inputs = kTwo,
              .launch = "mx::multiply(x[0], x[1], s)",
              .python_inputs = kPythonTwo,
              .python_launch = "mx.multiply(x[0], x[1], stream=s)"},
    MlxRecipe{.op = "mm",
              .shape = "64x64x64",
              .inputs = "numbers({$0, $1}, -1, 1, k), numbers({$1, $2}, -0.25, 0.25, k + 99)",
              .launch = "mx::matmul(x[0], x[1], s)",
              .python_inputs = "mx.linspace(-1, 1, $0 * $1).reshape($0, $1), mx.linspace(-0.25, "
                               "0.25, $1 * $2).reshape($1, $2)",
              .python_launch = "mx.matmul(x[0], x[1], stream=s)"},
    MlxRecipe{.op = "relu",
              .shape = "64x64",
              .inputs = kNormal,
              .launch = "mx::maximum(x[0], mx::array(0.0F), s)",
              .python_inputs = kPython,
              .python_launch = "mx.maximum(x[0], 0, stream=s)"},
    MlxRecipe{.op = "softmax",
              .shape = "64x64",
              .inputs = kNormal,
              .launch = "mx::softmax(x[0], std::vector<int>{-1}, false, s)",
              .python_inputs = kPython,
              .python_launch = "mx.softmax(x[0], -1, stream=s)"},
    MlxRecipe{.op = "layer_norm",
              .shape = "8x64",
              .inputs = kNormal,
              .weights = "numbers({$L}, 0.5, 1.5, k), numbers({$L}, -1, 1, k + 99)",
              .launch = "mx::fast::layer_norm(x[0], w[0], w[1], 1e-5F, s)",
              .python_inputs = kPython,
              .python_weights = "mx.linspace(0.5, 1.5, $L), mx.linspace(-1, 1, $L)",
              .python_launch = "mx.fast.layer_norm(x[0], w[0], w[1], 1e-5, stream=s)"},
    MlxRecipe{.op = "sum",
              .shape = "64x64",
              .inputs = kNormal,
              .launch = "mx::sum(x[0], s)",
              .python_inputs = kPython,
              .python_launch = "mx.sum(x[0], stream=s)"},
    MlxRecipe{.op = "arange",
              .shape = "1024",
              .launch = "mx::arange(0.0, $0, 1.0, mx::float32, s)",
              .python_launch = "mx.arange(0, $0, 1, mx.float32, stream=s)"},
    MlxRecipe{.op = "linspace",
              .shape = "1024",
              .launch = "mx::linspace(-1, 1, $0, mx::float32, s)",
              .python_launch = "mx.linspace(-1, 1, $0, stream=s)"},
    MlxRecipe{.op = "randn",
              .shape = "64x64",
              .launch = "mx::random::normal({$S}, mx::float32, 0, 1, std::nullopt, s)",
              .random = true},
    MlxRecipe{.op = "raw",
              .shape = "64x64x64",
              .launch = "mx::maximum(mx::matmul(\n"
                        "      mx::random::normal({$0, $1}, mx::float32, 0, 1, std::nullopt, s),\n"
                        "      mx::random::normal({$1, $2}, mx::float32, 0, 1, std::nullopt, s), "
                        "s), mx::array(0.0F), s)",
              .random = true},
    MlxRecipe{.op = "linear",
              .shape = "8x64x64",
              .inputs = kRow,
              .weights = "numbers({$2, $1}, -0.125, 0.125, k), numbers({$2}, -1, 1, k + 99)",
              .launch = "mx::addmm(w[1], x[0], mx::transpose(w[0], s), 1.0F, 1.0F, s)",
              .python_inputs = kPythonRow,
              .python_weights =
                  "mx.linspace(-0.125, 0.125, $2 * $1).reshape($2, $1), mx.linspace(-1, 1, $2)",
              .python_launch = "mx.addmm(w[1], x[0], mx.transpose(w[0], stream=s), stream=s)"},
    MlxRecipe{
        .op = "mlp",
        .shape = "8x64x128x64",
        .inputs = kRow,
        .weights = "numbers({$2, $1}, -0.125, 0.125, k), numbers({$2}, -1, 1, k + 9),\n"
                   "      numbers({$3, $2}, -0.1, 0.1, k + 99), numbers({$3}, -1, 1, k + 999)",
        .launch = "mx::addmm(w[3], mx::maximum(mx::addmm(w[1], x[0], mx::transpose(w[0], s), 1.0F, "
                  "1.0F, s),\n      mx::array(0.0F), s), mx::transpose(w[2], s), 1.0F, 1.0F, s)"},
    MlxRecipe{.op = "conv2d",
              .shape = "2x3x8x16x16x3",
              .inputs = "numbers({$0, $3, $4, $1}, -1, 1, k)",
              .weights = "numbers({$2, $5, $5, $1}, -0.2, 0.2, k), numbers({$2}, -1, 1, k + 99)",
              .launch = "mx::add(mx::conv2d(x[0], w[0], {1, 1}, {0, 0}, {1, 1}, 1, s), w[1], s)"},
    chain("chain"),
    chain("async_eval"),
    chain("lazy"),
    chain("compiled"),
};

const MlxRecipe* find_mlx_recipe(std::string_view op) {
  const auto* const at = std::find_if(kMlxRecipes.begin(), kMlxRecipes.end(),
                                      [op](const MlxRecipe& recipe) { return recipe.op == op; });
  return at == kMlxRecipes.end() ? nullptr : at;
}

std::string filled(std::string_view text, const MlxRecipe& recipe, const Cell& cell) {
  const std::vector<std::string> sizes = sizes_of(cell, recipe.shape);
  return mpsprobe::filled(text, sizes, {{'P', fmt::format("{}", fmt::join(sizes, " * "))}});
}

const char* why_not_mlx(const Cell& cell, const MlxRecipe* recipe) {
  if (recipe == nullptr) return "there is no program of the operation; repro tries its parts";
  if (cell.processes > 1 && cell.threads == 1) {
    return "the cell fails with several processes of one thread each, and the program is one "
           "process";
  }
  if (cell.sync == Sync::never) return "the programs wait for what they launch";
  return nullptr;
}

std::string_view way_of(const Cell& cell) {
  if (cell.op == "async_eval") return "Way::async_eval";
  if (cell.op == "lazy") return "Way::lazy";
  return cell.op == "compiled" ? "Way::compiled" : "Way::eval";
}

std::string_view maker_of(Owner owner) {
  if (owner == Owner::main) return "By::main";
  return owner == Owner::other ? "By::other" : "By::self";
}

void say_what_is_missing(Emission& emission, const Cell& cell) {
  say_common(emission, cell);
  say(emission, cell.stream == StreamUse::thread_unsafe, "stream", cell,
      "the threads have the default stream");
  say(emission, cell.warmup == Warmup::main, "warmup", cell,
      "one thread has computed the reference before, on the CPU");
}

}  // namespace

Emission emit_mlx(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::mlx};
  const MlxRecipe* const recipe = find_mlx_recipe(cell.op);
  if (const char* const reason = why_not_mlx(cell, recipe)) emission.why_not = reason;
  if (!emission.possible()) return emission;
  const fs::path folder = request.programs / "mlx";
  ParameterBlock block(read_program(folder / "reproducer.cpp"),
                       (folder / "reproducer.cpp").string());
  set_common(block, request);
  block.set("kRounds", std::to_string(cell.churn));
  block.set("kOnCpu", bool_of(cell.device == DeviceUse::cpu));
  block.set("kOwnStreams", bool_of(cell.stream == StreamUse::per_thread));
  block.set("kMadeBy", maker_of(cell.owner));
  block.set("kWay", way_of(cell));
  block.set("kSyncEach", bool_of(cell.sync == Sync::each));
  block.set("kSharedWeights", bool_of(cell.model == ModelSharing::shared));
  block.set("kRandom", bool_of(recipe->random));
  const auto list = [&](std::string_view text) {
    if (text.empty()) return std::string("[](unsigned) { return Arrays{}; }");
    return fmt::format("[](unsigned k) {{ return Arrays{{{}}}; }}", filled(text, *recipe, cell));
  };
  block.set("inputs", list(recipe->inputs));
  block.set("weights", list(recipe->weights));
  const std::string launch = filled(recipe->launch, *recipe, cell);
  block.set("launch",
            fmt::format("[](In{}, In{}, mx::Stream s, size_t) {{\n  return Arrays{{{}}};\n}}",
                        launch.find("x[") == std::string::npos ? "" : " x",
                        launch.find("w[") == std::string::npos ? "" : " w", launch));
  emission.files = {
      {"reproducer.cpp", headed(request, "//", block.text())},
      {"CMakeLists.txt", headed(request, "#", read_program(folder / "CMakeLists.txt"))}};
  emission.build = "cmake -B build && cmake --build build";
  emission.run = "build/reproducer";
  say_what_is_missing(emission, cell);
  say_rest(emission, cell,
           {"threads", "iterations", "shape", "churn", "device", "stream", "owner", "sync", "model",
            "lock"});
  return emission;
}

Emission emit_mlx_python(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::mlx_python};
  const MlxRecipe* const recipe = find_mlx_recipe(cell.op);
  if (const char* const reason = why_not_mlx(cell, recipe)) emission.why_not = reason;
  if (emission.possible() && (recipe->python_launch.empty() || recipe->random)) {
    emission.why_not = "no short Python says the operation " + cell.op;
  }
  if (!emission.possible()) return emission;
  const fs::path path = request.programs / "mlx" / "reproducer.py";
  ParameterBlock block(read_program(path), path.string());
  block.set("THREADS, ITERATIONS, ROUNDS, RUNS",
            fmt::format("{}, {}, {}, {}", cell.threads, cell.iterations, cell.churn,
                        std::min<size_t>(runs_for(request), 50)));
  const auto flag = [](bool value) { return value ? "True" : "False"; };
  block.set("ON_CPU, OWN_STREAMS, LAZY, BY_MAIN, TOLERANCE",
            fmt::format("{}, {}, {}, {}, 1e-3", flag(cell.device == DeviceUse::cpu),
                        flag(cell.stream == StreamUse::per_thread), flag(cell.op == "lazy"),
                        flag(cell.owner != Owner::thread)));
  block.set("inputs", "lambda: [" + filled(recipe->python_inputs, *recipe, cell) + "]");
  block.set("weights", "lambda: [" + filled(recipe->python_weights, *recipe, cell) + "]");
  block.set("launch", "lambda x, w, s: [" + filled(recipe->python_launch, *recipe, cell) + "]");
  emission.files = {{"reproducer.py", headed(request, "#", block.text())}};
  emission.run = "python3 reproducer.py";
  say_what_is_missing(emission, cell);
  say(emission, cell.owner == Owner::other, "owner", cell, "the main thread makes them");
  say(emission, cell.lock == Lock::forward, "lock", cell, "nothing is locked");
  say(emission, cell.model == ModelSharing::per_thread, "model", cell,
      "all threads have the same numbers");
  say(emission, cell.sync != Sync::each, "sync", cell, "each result is waited for");
  say_rest(emission, cell,
           {"threads", "iterations", "shape", "churn", "device", "stream", "owner"});
  return emission;
}

std::span<const std::string_view> operations_of_mlx_programs() {
  static const auto kNames = [] {
    std::array<std::string_view, kMlxRecipes.size()> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = kMlxRecipes[i].op;
    return names;
  }();
  return kNames;
}

}  // namespace mpsprobe
