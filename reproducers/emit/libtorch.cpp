#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproducers/emit/program.h"
#include "reproducers/emit/recipes.h"

namespace mpsprobe {
namespace {

/// What C++ and Python ask of the cell.
class TorchCell {
 public:
  explicit TorchCell(const EmissionRequest& request)
      : cell_(request.cell), recipe_(find_recipe(request.cell.op)) {
    if (recipe_ == nullptr) return;
    sizes_ = sizes_of(cell_, recipe_->shape);
    if (sizes_.size() < 2) return;
    // Sums of that many products of normal samples are near one when divided by it.
    double terms = std::stod(sizes_[1]);
    if (recipe_->op == "conv1d") terms *= std::stod(sizes_.back());
    if (recipe_->op == "conv2d") terms *= std::stod(sizes_.back()) * std::stod(sizes_.back());
    root_ = std::to_string(std::lround(std::max(1.0, std::sqrt(terms))));
  }

  std::string why_not() const {
    if (cell_.backend == Backend::metal) return "the cell is of Apple's frameworks alone";
    if (recipe_ == nullptr) return "there is no program of the operation " + cell_.op;
    return why_no_program(cell_);
  }
  const Recipe& recipe() const { return *recipe_; }
  std::string fill(std::string_view text) const { return filled(text, sizes_, {{'R', root_}}); }
  std::vector<Variable> inputs() const { return variables_of(fill(recipe_->inputs)); }
  std::vector<Variable> weights() const {
    std::vector<Variable> all = variables_of(fill(recipe_->weights));
    if (cell_.path != Path::graph || !recipe_->linear) return all;
    for (Variable& each : all) each.value = turned(each.value);
    return all;
  }
  /// Those of each thread.
  std::vector<Variable> own() const {
    std::vector<Variable> all = inputs();
    if (shares_weights()) return all;
    for (Variable& each : weights()) all.push_back(std::move(each));
    return all;
  }
  bool shares_weights() const { return cell_.model == ModelSharing::shared; }
  bool in_threads() const { return cell_.init == Init::threads; }

 private:
  // A weight of the other layout makes LibTorch take MPSGraph: the same numbers, transposed twice.
  static std::string turned(std::string value) {
    constexpr std::string_view kMade = "at::randn({";
    const size_t at = value.find(kMade), comma = value.find(", ", at), end = value.find("})", at);
    if (at == std::string::npos || comma > end) return value;  // a bias
    const size_t begin = at + kMade.size();
    const std::string rows = value.substr(begin, comma - begin);
    const std::string columns = value.substr(comma + 2, end - comma - 2);
    return value.replace(begin, end + 2 - begin, columns + ", " + rows + "}).t()");
  }

  const Cell& cell_;
  const Recipe* recipe_;
  std::vector<std::string> sizes_;
  std::string root_ = "1";
};

std::string_view torch_type(const std::string& dtype) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{"float16", "at::kHalf"},
                                                                      {"bfloat16", "at::kBFloat16"},
                                                                      {"int32", "at::kInt"},
                                                                      {"int64", "at::kLong"}};
  for (const auto& [name, type] : kTypes) {
    if (dtype == name) return type;
  }
  return "at::kFloat";
}

// As what a method can be called of.
std::string in_parentheses(const std::string& value) {
  const bool sum = value.find(" / ") != std::string::npos || value.find(" + ") != std::string::npos;
  return sum ? "(" + value + ")" : value;
}

// "at::randn({8, 64}) / 8" as Python: torch.randn((8, 64)) / 8.
std::string in_python(const std::string& text) {
  std::string result = replaced(text, {{"at::linear(", "torch.nn.functional.linear("},
                                       {"at::gelu(", "torch.nn.functional.gelu("},
                                       {"at::conv", "torch.nn.functional.conv"},
                                       {"at::scaled_dot_product_attention",
                                        "torch.nn.functional.scaled_dot_product_attention"},
                                       {"at::", "torch."},
                                       {", on)", ", **on)"},
                                       {"{", "("}});
  for (size_t at = 0; (at = result.find('}', at)) != std::string::npos;) {
    const bool one =
        result.substr(result.rfind('(', at), at).find(',') > at - result.rfind('(', at);
    result.replace(at, 1, one ? ",)" : ")");
  }
  return result;
}

std::string_view tolerance_of(const Cell& cell) {
  return cell.dtype == "float16" ? "2e-2" : cell.dtype == "bfloat16" ? "1e-1" : "1e-3";
}

// How the cell waits for its device, as scenarios/backends/mps.cpp does.
std::string waiting(const Cell& cell) {
  if (cell.backend != Backend::mps) return "";
  if (cell.wait == WaitFor::stream) {
    return "auto* const stream = at::mps::getCurrentMPSStream();\n"
           "dispatch_sync_f(stream->queue(), stream, [](void* it) {\n"
           "  "
           "static_cast<at::mps::MPSStream*>(it)->synchronize(at::mps::SyncType::COMMIT_AND_WAIT);"
           "\n});";
  }
  if (cell.wait == WaitFor::event) {
    return "const at::MPSHooksInterface& mps = at::detail::getMPSHooks();\n"
           "const uint32_t event = mps.acquireEvent(false);\n"
           "mps.recordEvent(event);\n"
           "mps.synchronizeEvent(event);\n"
           "mps.releaseEvent(event);";
  }
  return "torch::mps::synchronize();";
}

std::string names_of(const std::vector<Variable>& variables) {
  std::string names;
  for (const Variable& each : variables) names += (names.empty() ? "" : ", ") + each.name;
  return names;
}

}  // namespace

std::string api_of_torch(const Cell& cell) {
  const Recipe* const recipe = find_recipe(cell.op);
  if (recipe == nullptr) return "";
  const bool same = recipe->python.empty() || recipe->python == "-";
  const std::string call =
      same ? in_python(std::string(recipe->call)) : std::string(recipe->python);
  return names_in(call, "torch.", "torch.");
}

Emission emit_libtorch(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  const TorchCell torch(request);
  Emission emission{.kind = Kind::libtorch, .why_not = torch.why_not()};
  if (!emission.possible()) return emission;
  const bool numbers = request.outcome == Outcome::wrong_result && torch.recipe().op != "empty";
  const bool mps = cell.backend == Backend::mps;
  const bool own_streams = cell.stream == StreamUse::per_thread && mps;
  const auto made = [](const std::vector<Variable>& all) {
    ProgramLines lines;
    for (const Variable& each : all) {
      lines.add(
          fmt::format("const at::Tensor {} = {}.to(on);", each.name, in_parentheses(each.value)));
    }
    return lines;
  };
  const std::vector<Variable> own = torch.own();
  const std::string wait = waiting(cell);
  ProgramLines headers, by_main, for_thread, before, launch, after_loop;
  headers.add("#include <ATen/ATen.h>")
      .add("#include <ATen/detail/MPSHooksInterface.h>", mps && cell.wait == WaitFor::event)
      .add("#include <ATen/mps/MPSStream.h>", own_streams || (mps && cell.wait == WaitFor::stream))
      .add("#include <torch/mps.h>", mps);
  by_main.add(fmt::format("const at::TensorOptions on = at::TensorOptions({}).dtype({});",
                          mps ? "at::kMPS" : "at::kCPU", torch_type(cell.dtype)));
  if (torch.shares_weights()) by_main.add(made(torch.weights()));
  by_main.add(torch.fill(torch.recipe().setup));
  const std::string call = torch.fill(torch.recipe().call);
  by_main.add(
      fmt::format("std::vector<std::vector<at::Tensor>> given({0}), got({0});", cell.threads),
      numbers);
  before.add("at::mps::setCurrentMPSStream(at::mps::getStreamFromPool());", own_streams);
  (torch.in_threads() ? before : for_thread)
      .add(made(own))
      .add(fmt::format("given[t] = {{{}}};", names_of(own)), numbers && !own.empty());
  for_thread.add(fmt::format("{};", call), cell.warmup == Warmup::main && !torch.in_threads())
      .add("torch::mps::synchronize();", mps && !torch.in_threads() && !own.empty());
  launch.add("std::unique_lock<std::mutex> turn(lock);", cell.lock == Lock::forward)
      .add(fmt::format("const at::Tensor result = {};", call))
      .add("turn.unlock();", cell.lock == Lock::forward)
      .add(wait, cell.sync == Sync::each)
      .add("got[t].push_back(result);", numbers);
  after_loop.add(wait, cell.sync != Sync::each);
  std::string captures = "&";
  if (!torch.in_threads() && !own.empty()) captures += ", " + names_of(own);
  if (numbers || call.find("[t %") != std::string::npos) captures += ", t";
  ProgramLines check;
  for (size_t i = 0; i < own.size(); ++i) {
    check.add(fmt::format("const at::Tensor& {} = given[t][{}];", own[i].name, i));
  }
  check.add(fmt::format("const at::Tensor right = {}.cpu();", call))
      .add("for (const at::Tensor& each : got[t]) {")
      .add(torch.recipe().random
               ? "  if (each.cpu().isfinite().all().item<bool>()) continue;"
               : fmt::format("  if (at::allclose(each.cpu(), right, {0}, {0})) continue;",
                             tolerance_of(cell)))
      .add(
          "  std::printf(\"thread %d: a result is wrong by up to %g\\n\", t, "
          "(each.cpu() - right).abs().max().item<double>());")
      .add("  return 1;\n}");
  emission.build =
      "TORCH=$(python3 -c 'import torch; print(torch.__path__[0])'); c++ -std=c++20 "
      "-isystem $TORCH/include -isystem $TORCH/include/torch/csrc/api/include reproducer.cpp "
      "-o reproducer -L$TORCH/lib -ltorch_cpu -lc10 -Wl,-rpath,$TORCH/lib -pthread "
      "$([ $(uname) = Darwin ] || echo -Wl,--unresolved-symbols=ignore-in-shared-libs)";
  const std::string text = compose(request, "threads.cpp.mustache",
                                   {{"build", emission.build},
                                    {"headers", headers},
                                    {"cmath", ""},
                                    {"names", ""},
                                    {"by_main", by_main},
                                    {"by_main_for_thread", for_thread},
                                    {"captures", captures},
                                    {"before_start", before},
                                    {"after_start", ""},
                                    {"launch", launch},
                                    {"after_loop", after_loop},
                                    {"numbers", numbers ? "yes" : ""},
                                    {"check", check}});
  emission.files = {{"reproducer.cpp", text}};
  emission.run = "./reproducer";
  say_rest(emission, cell,
           {"dtype", own_streams ? "stream" : "", "init", torch.in_threads() ? "" : "warmup",
            cell.sync == Sync::never ? "" : "sync", cell.wait == WaitFor::item ? "" : "wait",
            "model", "lock"});
  return emission;
}

Emission emit_torch_python(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  const TorchCell torch(request);
  Emission emission{.kind = Kind::python, .why_not = torch.why_not()};
  if (emission.possible() && torch.recipe().python == "-") {
    emission.why_not = "no short Python says the operation " + cell.op;
  }
  if (!emission.possible()) return emission;
  const bool numbers = request.outcome == Outcome::wrong_result && torch.recipe().op != "empty";
  const bool mps = cell.backend == Backend::mps;
  const bool locked = cell.lock == Lock::forward;
  const auto made = [](const std::vector<Variable>& all) {
    ProgramLines lines;
    for (const Variable& each : all) {
      lines.add(fmt::format("{} = {}.to(**on)", each.name, in_parentheses(in_python(each.value))));
    }
    return lines;
  };
  const std::vector<Variable> own = torch.own();
  const std::string call = torch.recipe().python.empty()
                               ? in_python(torch.fill(torch.recipe().call))
                               : torch.fill(torch.recipe().python);
  ProgramLines by_main, before, launch, after_loop, checks;
  if (torch.shares_weights()) by_main.add(made(torch.weights()));
  by_main.add("lock = threading.Lock()", locked).add("got = []", numbers);
  if (torch.in_threads()) {
    before.add(made(own));
  } else if (!own.empty()) {
    by_main.add("\ndef made():")
        .add("    " + replaced(made(own), {{"\n", "\n    "}}))
        .add(fmt::format("    return ({},)", names_of(own)));
  }
  const bool given = !torch.in_threads() && !own.empty();
  launch.add("with lock:", locked)
      .add(fmt::format("{}{}{}", locked ? "    " : "", numbers ? "result = " : "", call))
      .add("torch.mps.synchronize()", mps && cell.sync == Sync::each)
      .add(fmt::format("got.append((result, {}))",
                       own.empty() ? "()" : fmt::format("({},)", names_of(own))),
           numbers);
  after_loop.add("torch.mps.synchronize()", mps && cell.sync != Sync::each);
  if (numbers) {
    checks.add("for result, given in got:")
        .add(fmt::format("    ({},) = given", names_of(own)), !own.empty())
        .add(fmt::format("    right = {}", call), !torch.recipe().random)
        .add(torch.recipe().random
                 ? "    if not result.cpu().isfinite().all():"
                 : fmt::format("    if not torch.allclose(result.cpu(), right.cpu(), {0}, {0}):",
                               tolerance_of(cell)))
        .add("        raise SystemExit(\"wrong numbers\")");
  }
  const std::string imports = fmt::format(
      "{}import threading\n\nimport torch\n\non = {{\"device\": \"{}\", \"dtype\": torch.{}}}",
      request.outcome == Outcome::exception ? "import os\n" : "", mps ? "mps" : "cpu",
      cell.dtype == "default" ? "float32" : cell.dtype);
  // Nobody runs a pasted text that starts processes.
  const std::string main = fmt::format("for _ in range({}):\n    attempt()",
                                       cell.churn * request.form.rounds * request.form.attempts);
  const std::string text = compose(request, "threads.py.mustache",
                                   {{"imports", imports},
                                    {"main", main},
                                    {"by_main", by_main},
                                    {"before_start", before},
                                    {"after_start", ""},
                                    {"launch", launch},
                                    {"after_loop", after_loop},
                                    {"parameters", given ? names_of(own) : ""},
                                    {"arguments", given ? ", args=made()" : ""},
                                    {"checks", checks}});
  emission.files = {{"reproducer.py", text}};
  emission.run = "python3 reproducer.py";
  say_rest(emission, cell,
           {"dtype", "init", cell.sync == Sync::never ? "" : "sync", "model", "lock"});
  return emission;
}

}  // namespace mpsprobe
