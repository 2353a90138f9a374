#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reproducers/emit/program.h"

namespace mpsprobe {
namespace {

/// An operation of the workers for MLX as the programs say it; s is the stream. Placeholders as in
/// `filled`. Static storage.
struct MlxRecipe {
  std::string_view op;
  std::string_view shape;        ///< sizes where the cell leaves them at their default
  std::string_view inputs = "";  ///< "a = SIZES; b = SIZES": of each thread
  std::string_view weights = "";
  std::string_view call;
  std::string_view python = "";  ///< where it is not the same but for the names
  bool random = false;           ///< the numbers differ each time
};

constexpr std::string_view kChain = "mx::sum(mx::tanh(mx::matmul(x, weight, s), s), s)";
constexpr std::string_view kCompiled = "mx::sum(mx::tanh(mx::matmul(in[0], in[1])))";
constexpr MlxRecipe kMlxRecipes[] = {
    {"add", "100x100", "a = $S; b = $S", "", "mx::add(a, b, s)"},
    {"mul", "100x100", "a = $S; b = $S", "", "mx::multiply(a, b, s)"},
    {"mm", "64x64x64", "a = $0, $1; b = $1, $2", "", "mx::matmul(a, b, s)"},
    {"relu", "64x64", "a = $S", "", "mx::maximum(a, mx::array(0.0F), s)"},
    {"softmax", "64x64", "a = $S", "", "mx::softmax(a, -1, false, s)",
     "mx.softmax(a, -1, stream=s)"},
    {"layer_norm", "8x64", "x = $S", "weight = $L; bias = $L",
     "mx::fast::layer_norm(x, weight, bias, 1e-5F, s)",
     "mx.fast.layer_norm(x, weight, bias, 1e-5, stream=s)"},
    {"sum", "64x64", "a = $S", "", "mx::sum(a, s)"},
    {"arange", "1024", "", "", "mx::arange(0.0, $0, 1.0, mx::float32, s)",
     "mx.arange(0, $0, 1, mx.float32, stream=s)"},
    {"linspace", "1024", "", "", "mx::linspace(-1, 1, $0, mx::float32, s)",
     "mx.linspace(-1, 1, $0, stream=s)"},
    {"randn", "64x64", "", "", "mx::random::normal({$S}, mx::float32, 0, 1, std::nullopt, s)",
     "mx.random.normal(($S,), stream=s)", true},
    {"raw", "64x64x64", "", "",
     "mx::maximum(\n    mx::matmul(mx::random::normal({$0, $1}, mx::float32, 0, 1, std::nullopt, "
     "s),\n        mx::random::normal({$1, $2}, mx::float32, 0, 1, std::nullopt, s), s),\n    "
     "mx::array(0.0F), s)",
     "mx.maximum(mx.matmul(mx.random.normal(($0, $1), stream=s), mx.random.normal(($1, $2), "
     "stream=s), stream=s), 0, stream=s)",
     true},
    {"linear", "8x64x64", "x = $0, $1", "weight = $2, $1; bias = $2",
     "mx::addmm(bias, x, mx::transpose(weight, s), 1.0F, 1.0F, s)",
     "mx.addmm(bias, x, mx.transpose(weight, stream=s), stream=s)"},
    {"mlp", "8x64x128x64", "x = $0, $1",
     "weight1 = $2, $1; bias1 = $2; weight2 = $3, $2; bias2 = $3",
     "mx::addmm(bias2, mx::maximum(\n    mx::addmm(bias1, x, mx::transpose(weight1, s), 1.0F, "
     "1.0F, s), mx::array(0.0F), s),\n    mx::transpose(weight2, s), 1.0F, 1.0F, s)",
     "mx.addmm(bias2, mx.maximum(mx.addmm(bias1, x, mx.transpose(weight1, stream=s), stream=s), 0, "
     "stream=s), mx.transpose(weight2, stream=s), stream=s)"},
    {"conv2d", "2x3x8x16x16x3", "x = $0, $3, $4, $1", "weight = $2, $5, $5, $1; bias = $2",
     "mx::add(mx::conv2d(x, weight, {1, 1}, {0, 0}, {1, 1}, 1, s), bias, s)",
     "mx.add(mx.conv2d(x, weight, stream=s), bias, stream=s)"},
    {"chain", "16x16x16", "x = $0, $1", "weight = $1, $2", kChain},
    {"async_eval", "16x16x16", "x = $0, $1", "weight = $1, $2", kChain},
    {"lazy", "16x16x16", "x = $0, $1", "weight = $1, $2", kChain},
    {"compiled", "16x16x16", "x = $0, $1", "weight = $1, $2", kChain},
};

const MlxRecipe* find_mlx_recipe(std::string_view op) {
  const auto* const found = std::find_if(std::begin(kMlxRecipes), std::end(kMlxRecipes),
                                         [&](const MlxRecipe& recipe) { return recipe.op == op; });
  return found == std::end(kMlxRecipes) ? nullptr : found;
}

/// What both languages ask of the cell.
class MlxCell {
 public:
  explicit MlxCell(const EmissionRequest& request)
      : cell_(request.cell), recipe_(find_mlx_recipe(request.cell.op)) {
    if (recipe_ != nullptr) sizes_ = sizes_of(cell_, recipe_->shape);
  }

  std::string why_not() const {
    if (recipe_ == nullptr) {
      return "there is no program of the operation " + cell_.op + "; repro tries its parts";
    }
    if (cell_.sync == Sync::never) return "the programs wait for what they launch";
    return why_no_program(cell_);
  }
  const MlxRecipe& recipe() const { return *recipe_; }
  std::string fill(std::string_view text) const { return filled(text, sizes_); }
  std::vector<Variable> variables(std::string_view list) const { return variables_of(fill(list)); }
  bool is_lazy() const { return cell_.op == "lazy"; }
  bool by_main() const { return cell_.owner == Owner::main; }
  /// Whether a thread computes on a stream that main has made.
  bool others_stream() const { return is_lazy() || by_main(); }
  bool shares_weights() const {
    return cell_.model == ModelSharing::shared || is_lazy() || cell_.op == "compiled";
  }

  /// Notes what the programs do not say.
  void note(Emission& emission) const {
    const bool waits = cell_.op == "async_eval";
    say_rest(emission, cell_,
             {"device", cell_.stream == StreamUse::per_thread ? "stream" : "", waits ? "sync" : "",
              "model", "lock", "leave", by_main() ? "owner" : ""});
  }

 private:
  const Cell& cell_;
  const MlxRecipe* recipe_;
  std::vector<std::string> sizes_;
};

std::string cpp_array(const Variable& made, std::string_view value) {
  const std::string elements = replaced(made.value, {{", ", " * "}});
  return fmt::format("const mx::array {}(std::vector<float>({}, {}).begin(), {{{}}});", made.name,
                     elements, value, made.value);
}

// The wheel's library needs others that lie beside it, which a linker outside a Mac looks for.
constexpr std::string_view kBuild =
    "MLX=$(python3 -c 'import mlx; print(list(mlx.__path__)[0])'); "
    "c++ -std=c++20 -isystem $MLX/include reproducer.cpp -o reproducer -L$MLX/lib -lmlx "
    "-Wl,-rpath,$MLX/lib -pthread $([ $(uname) = Darwin ] || echo -Wl,--allow-shlib-undefined)";

}  // namespace

std::string api_of_mlx(const Cell& cell) {
  const MlxRecipe* const recipe = find_mlx_recipe(cell.op);
  return recipe == nullptr ? "" : names_in(recipe->call, "mx::", "mx.");
}

Emission emit_mlx(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  const MlxCell mlx(request);
  Emission emission{.kind = Kind::mlx, .why_not = mlx.why_not()};
  if (!emission.possible()) return emission;
  const ProgramForm& form = request.form;
  const bool numbers = request.outcome == Outcome::wrong_result;
  const std::string device =
      cell.device == DeviceUse::cpu ? "mx::Device::cpu" : "mx::default_device()";
  const std::string stream =
      fmt::format("const mx::Stream s = mx::{}({});",
                  cell.stream == StreamUse::per_thread ? "new_stream" : "default_stream", device);
  ProgramLines inputs, weights;
  for (const Variable& each : mlx.variables(mlx.recipe().inputs)) {
    inputs.add(cpp_array(each, mlx.is_lazy() ? "0.01F" : "0.01F * (t + 1)"));
  }
  for (const Variable& each : mlx.variables(mlx.recipe().weights)) {
    weights.add(cpp_array(each, "0.5F"));
  }
  ProgramLines own;  // of each thread, made by main
  ProgramLines by_main, before, after, launch, after_loop;
  const bool in_threads = !mlx.is_lazy();
  const bool stream_used = cell.op != "compiled";
  if (!in_threads) {
    by_main.add(stream).add(inputs);
  } else if (mlx.by_main()) {
    own.add(stream, stream_used).add(inputs);
  } else {
    before.add(stream, form.stream_first && stream_used).add(inputs, form.inputs_first);
    after.add(stream, !form.stream_first && stream_used).add(inputs, !form.inputs_first);
  }
  (mlx.shares_weights() ? by_main : mlx.by_main() ? own : before).add(weights);
  const std::string call = mlx.fill(mlx.recipe().call);
  const bool one = cell.iterations == 1;
  if (mlx.is_lazy()) {
    by_main.add(fmt::format("const mx::array result = {};", call), one)
        .add("std::vector<mx::array> results;", !one)
        .add(fmt::format("for (int i = 0; i < {}; ++i) results.push_back({});", cell.iterations,
                         call),
             !one);
  }
  if (cell.op == "compiled") {
    by_main.add("const auto compiled = mx::compile([](const std::vector<mx::array>& in) {")
        .add(fmt::format("  return std::vector<mx::array>{{{}}};", kCompiled))
        .add("});");
  }
  by_main.add(fmt::format("std::vector<std::vector<std::vector<float>>> got({});", cell.threads),
              numbers);
  const bool waits_once = cell.op == "async_eval" && cell.sync == Sync::end;
  before.add("std::vector<mx::array> results;", waits_once);
  // A release that refuses the stream of another thread has not failed.
  const bool refusable = mlx.others_stream() && request.outcome != Outcome::exception;
  launch.add("const std::lock_guard<std::mutex> turn(lock);", cell.lock == Lock::forward);
  if (mlx.is_lazy()) {
    launch.add("const mx::array result = results[i];", numbers && !one);
  } else if (cell.op == "compiled") {
    launch.add("const mx::array result = compiled({x, weight})[0];");
  } else {
    launch.add(fmt::format("const mx::array result = {};", call));
  }
  launch.add("try {", refusable)
      .add(fmt::format("{}mx::{}eval({});", refusable ? "  " : "",
                       cell.op == "async_eval" ? "async_" : "",
                       mlx.is_lazy() && !numbers && !one ? "results[i]" : "result"))
      .add(
          "} catch (const std::runtime_error&) {\n  return;  // MLX refuses another thread's "
          "stream\n}",
          refusable);
  launch.add("mx::synchronize(s);", cell.op == "async_eval" && !waits_once);
  launch.add("results.push_back(result);", waits_once);
  constexpr std::string_view kKeep =
      "got[t].emplace_back(result.data<float>(), result.data<float>() + result.size());";
  launch.add(kKeep, numbers && !waits_once);
  after_loop.add("mx::synchronize(s);", waits_once)
      .add(fmt::format("for (const mx::array& result : results) {}", kKeep), numbers && waits_once)
      .add("mx::clear_streams();", cell.leave == Leave::clear_streams);
  std::string captures = "&";
  if (in_threads && mlx.by_main()) {
    captures = stream_used ? "&, s" : "&";
    for (const Variable& each : mlx.variables(mlx.recipe().inputs)) captures += ", " + each.name;
    if (!mlx.shares_weights()) {
      for (const Variable& each : mlx.variables(mlx.recipe().weights)) captures += ", " + each.name;
    }
  }
  const bool names_t = std::string(own).empty() &&
                       (std::string(inputs).find('t') != std::string::npos && in_threads);
  if (names_t || numbers) captures += ", t";
  ProgramLines check;
  check.add("const mx::Stream s = mx::default_stream(mx::Device::cpu);")
      .add(inputs, in_threads)
      .add(weights, in_threads && !mlx.shares_weights())
      .add(fmt::format("const mx::array right = {};\nmx::eval(right);", call))
      .add("for (const std::vector<float>& numbers : got[t]) {")
      .add("  for (size_t i = 0; i < numbers.size(); ++i) {")
      .add(mlx.recipe().random
               ? "    if (std::isfinite(numbers[i])) continue;"
               : "    if (std::abs(numbers[i] - right.data<float>()[i]) <= 1e-3F) continue;")
      .add(
          "    std::printf(\"thread %d, index %zu: expected %g, got %g\\n\", t, i, "
          "right.data<float>()[i], numbers[i]);")
      .add("    return 1;\n  }\n}");
  emission.build = kBuild;
  const std::string text = compose(request, "threads.cpp.mustache",
                                   {{"build", emission.build},
                                    {"headers", "#include <mlx/mlx.h>"},
                                    {"cmath", numbers ? "yes" : ""},
                                    {"names", "\nnamespace mx = mlx::core;"},
                                    {"by_main", by_main},
                                    {"by_main_for_thread", own},
                                    {"before_start", before},
                                    {"after_start", after},
                                    {"launch", launch},
                                    {"after_loop", after_loop},
                                    {"captures", captures},
                                    {"numbers", numbers ? "yes" : ""},
                                    {"check", check}});
  emission.files = {{"reproducer.cpp", text}};
  emission.run = "./reproducer";
  mlx.note(emission);
  return emission;
}

Emission emit_mlx_python(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  const MlxCell mlx(request);
  Emission emission{.kind = Kind::mlx_python, .why_not = mlx.why_not()};
  if (emission.possible() && cell.op == "async_eval") {
    emission.why_not = "no short Python says the operation async_eval";
  }
  if (!emission.possible()) return emission;
  const ProgramForm& form = request.form;
  const bool numbers = request.outcome == Outcome::wrong_result;
  const std::string device = cell.device == DeviceUse::cpu ? "mx.cpu" : "mx.default_device()";
  const std::string stream =
      fmt::format("s = mx.{}({})",
                  cell.stream == StreamUse::per_thread ? "new_stream" : "default_stream", device);
  const auto made = [&](std::string_view list, std::string_view value) {
    ProgramLines lines;
    std::string names;
    for (const Variable& each : mlx.variables(list)) {
      lines.add(fmt::format("{} = mx.full(({}{}), {})", each.name, each.value,
                            each.value.find(',') == std::string::npos ? "," : "", value));
      names += (names.empty() ? "" : ", ") + each.name;
    }
    if (!names.empty()) lines.add(fmt::format("mx.eval({})", names));
    return lines;
  };
  const ProgramLines inputs =
      made(mlx.recipe().inputs, mlx.is_lazy() || mlx.by_main() ? "0.01" : "0.01 * (t + 1)");
  const ProgramLines weights = made(mlx.recipe().weights, "0.5");
  const std::string call =
      mlx.fill(mlx.recipe().python.empty()
                   ? replaced(std::string(mlx.recipe().call),
                              {{"mx::array(0.0F)", "0"}, {"::", "."}, {", s)", ", stream=s)"}})
                   : mlx.recipe().python);
  ProgramLines by_main, before, after, launch, after_loop, checks;
  const bool stream_used = cell.op != "compiled";
  if (mlx.is_lazy() || mlx.by_main()) {
    by_main.add(stream, mlx.is_lazy()).add(inputs);
    before.add(stream, !mlx.is_lazy() && stream_used);
  } else {
    before.add(stream, form.stream_first && stream_used).add(inputs, form.inputs_first);
    after.add(stream, !form.stream_first && stream_used).add(inputs, !form.inputs_first);
  }
  (mlx.shares_weights() ? by_main : before).add(weights);
  by_main
      .add(cell.iterations == 1
               ? "lazy = " + call
               : fmt::format("lazy = [{} for _ in range({})]", call, cell.iterations),
           mlx.is_lazy())
      .add("compiled = mx.compile(lambda x, weight: mx.sum(mx.tanh(x @ weight)))",
           cell.op == "compiled")
      .add("lock = threading.Lock()", cell.lock == Lock::forward)
      .add("got = []", numbers);
  const std::string result = mlx.is_lazy()           ? (cell.iterations > 1 ? "lazy[i]" : "lazy")
                             : cell.op == "compiled" ? "compiled(x, weight)"
                                                     : call;
  const std::string_view indent = cell.lock == Lock::forward ? "    " : "";
  launch.add("with lock:", cell.lock == Lock::forward);
  if (numbers) {
    launch.add(fmt::format("{}result = {}", indent, result))
        .add(fmt::format("{}mx.eval(result)", indent))
        .add(fmt::format("{}got.append(({}, result.tolist()))", indent,
                         mlx.is_lazy() || mlx.by_main() ? "0" : "t"));
    const std::string right = mlx.recipe().random
                                  ? "mx.isfinite(mx.array(numbers)).all().item()"
                                  : "mx.allclose(mx.array(numbers), right(t), 1e-3, 1e-3).item()";
    checks.add("\ndef right(t):", !mlx.recipe().random);
    if (!mlx.recipe().random) {
      const auto below = [](const std::string& lines) {
        return "    " + replaced(lines, {{"\n", "\n    "}});
      };
      checks.add("    s = mx.default_stream(mx.cpu)")
          .add(below(inputs), !std::string(inputs).empty() && !mlx.is_lazy() && !mlx.by_main())
          .add(below(weights), !std::string(weights).empty() && !mlx.shares_weights())
          .add(fmt::format("    return {}", call));
    }
    checks.add(fmt::format("\nwrong = [t for t, numbers in got if not {}]", right))
        .add("if wrong:\n    sys.exit(f\"wrong numbers in thread {wrong[0]}\")");
  } else {
    launch.add(fmt::format("{}mx.eval({})", indent, result));
  }
  after_loop.add("mx.clear_streams()", cell.leave == Leave::clear_streams);
  const bool names_t = !mlx.is_lazy() && !mlx.by_main() &&
                       (numbers || std::string(inputs).find("(t +") != std::string::npos);
  const std::string text = compose(request, "threads.py.mustache",
                                   {{"imports",
                                     "import faulthandler, os, subprocess, sys, threading\n\n"
                                     "import mlx.core as mx"},
                                    {"by_main", by_main},
                                    {"before_start", before},
                                    {"after_start", after},
                                    {"launch", launch},
                                    {"after_loop", after_loop},
                                    {"parameters", names_t ? "t" : ""},
                                    {"arguments", names_t ? ", args=(t,)" : ""},
                                    {"checks", checks}});
  emission.files = {{"reproducer.py", text}};
  emission.run = "python3 reproducer.py";
  mlx.note(emission);
  return emission;
}

}  // namespace mpsprobe
