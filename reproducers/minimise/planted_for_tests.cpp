#include "reproducers/minimise/planted_for_tests.h"

#include <map>

#include "harness/matrix/expand.h"
#include "reproducers/minimise/simplification.h"

namespace mpsprobe {
namespace {

const char* const kCrash = "SIGSEGV in -[AGXFamilyComputeContext setComputePipelineState:]";
const char* const kAssertion = "assertion: commit command buffer with uncommitted encoder";

Planted planted(std::string name, const char* start, const char* minimum,
                std::vector<PlantedBug> bugs) {
  return {std::move(name), parse_cell(start), kCrash, parse_cell(minimum), std::move(bugs)};
}

PlantedBug crash(std::function<bool(const Cell&)> occurs, double rate = 1) {
  return {std::move(occurs), rate, kCrash};
}

PlantedBug assertion(std::function<bool(const Cell&)> occurs, double rate = 1) {
  return {std::move(occurs), rate, kAssertion};
}

bool has_linear(const Cell& cell) {
  return cell.op == "linear" || cell.op == "mlp" || cell.op == "transformer_layer";
}

const OperationInfo& planted_operation(const Cell& cell) {
  return *find_operation(planted_operations(), cell.op, cell.backend);
}

int64_t size_at(const Cell& cell, size_t index) {
  const std::vector<int64_t> sizes =
      sizes_of(cell.shape == "default" ? planted_operation(cell).shape : cell.shape);
  return index < sizes.size() ? sizes[index] : 0;
}

OperationInfo operation(const char* name, std::vector<std::string> made_of = {},
                        bool linear = false) {
  OperationInfo info;
  info.name = name;
  info.paths = {"default"};
  if (linear) info.paths = {"default", "nograph", "graph"};
  info.has_parameters = linear;
  info.dtypes = {"float32", "float16"};
  info.shape = "8x64x64";
  info.made_of = std::move(made_of);
  return info;
}

std::vector<Planted> make_profiles() {
  return {
      planted("threads", "sim/linear/default/threads=8/iterations=50/sync=end/churn=3",
              "sim/linear/default/threads=3/iterations=1",
              {crash([](const Cell& c) { return c.threads >= 3; })}),
      planted("iterations", "sim/linear/default/threads=8/iterations=100/sync=end/model=per-thread",
              "sim/linear/default/threads=2/iterations=7",
              {crash([](const Cell& c) { return c.threads >= 2 && c.iterations >= 7; })}),
      planted("one-layer",
              "sim/transformer_layer/nograph/threads=4/iterations=20/sync=end/warmup=main",
              "sim/linear/default/threads=2/iterations=1",
              {crash([](const Cell& c) { return has_linear(c) && c.threads >= 2; })}),
      planted("warm-only",
              "sim/linear/default/threads=8/iterations=20/warmup=main/sync=end/churn=2",
              "sim/linear/default/threads=2/iterations=1/warmup=main",
              {crash([](const Cell& c) { return c.warmup == Warmup::main && c.threads >= 2; })}),
      planted("sync-end",
              "sim/mm/default/threads=8/iterations=50/sync=end/start=staggered/dtype=float16",
              "sim/mm/default/threads=2/iterations=2/sync=end",
              {crash([](const Cell& c) { return c.sync == Sync::end && c.threads >= 2; })}),
      planted("dtype",
              "sim/linear/graph/threads=6/iterations=30/dtype=float16/start=staggered/warmup=main",
              "sim/linear/default/threads=2/iterations=1/dtype=float16",
              {crash([](const Cell& c) { return c.dtype == "float16" && c.threads >= 2; })}),
      planted("shape", "sim/linear/default/threads=8/iterations=20/shape=64x256x64/sync=end",
              "sim/linear/default/threads=2/iterations=1/shape=8x130x64",
              {crash([](const Cell& c) { return size_at(c, 1) >= 130 && c.threads >= 2; })}),
      planted("processes",
              "sim/linear/default/threads=4/processes=8/iterations=30/sync=end/warmup=main",
              "sim/linear/default/threads=1/processes=3/iterations=1",
              {crash([](const Cell& c) { return c.processes >= 3; })}),
      planted("graph-path",
              "sim/mlp/graph/threads=8/iterations=50/warmup=main/sync=end/model=per-thread",
              "sim/linear/graph/threads=4/iterations=1", {crash([](const Cell& c) {
                return has_linear(c) && c.path == Path::graph && c.threads >= 4;
              })}),
      planted("two-conditions",
              "sim/linear/default/threads=8/iterations=40/init=threads/churn=8/sync=end/"
              "start=staggered/model=per-thread",
              "sim/linear/default/threads=2/iterations=1/init=threads/churn=3",
              {crash([](const Cell& c) {
                return c.init == Init::threads && c.churn >= 3 && c.threads >= 2;
              })}),
      planted("only-three", "sim/linear/default/threads=8/iterations=20/sync=end/churn=2",
              "sim/linear/default/threads=3/iterations=1",
              {crash([](const Cell& c) { return c.threads == 3 || c.threads >= 8; })}),
      planted("nine-in-ten", "sim/linear/default/threads=8/iterations=50/sync=end/warmup=main",
              "sim/linear/default/threads=3/iterations=4",
              {crash([](const Cell& c) { return c.threads >= 3 && c.iterations >= 4; }, 0.9)}),
      planted("four-in-ten", "sim/mlp/nograph/threads=8/iterations=50/warmup=main",
              "sim/linear/default/threads=3/iterations=1",
              {crash([](const Cell& c) { return has_linear(c) && c.threads >= 3; }, 0.4)}),
      // A lock halves the rate.
      planted("three-in-ten", "sim/mlp/nograph/threads=8/iterations=50/warmup=main",
              "sim/linear/default/threads=3/iterations=1",
              {crash([](const Cell& c) { return has_linear(c) && c.threads >= 3; }, 0.15),
               crash(
                   [](const Cell& c) {
                     return has_linear(c) && c.threads >= 3 && c.lock == Lock::none;
                   },
                   0.1765)}),
      planted("one-in-ten", "sim/linear/nograph/threads=8/iterations=20/sync=end",
              "sim/linear/default/threads=2/iterations=1",
              {crash([](const Cell& c) { return c.threads >= 2; }, 0.1)}),
      // The assertion comes first where both conditions hold, and hides the crash half of the time.
      planted("two-bugs", "sim/linear/default/threads=8/iterations=30/sync=end/warmup=main",
              "sim/linear/default/threads=3/iterations=1",
              {assertion([](const Cell& c) { return c.threads >= 5; }, 0.5),
               crash([](const Cell& c) { return c.threads >= 3; })}),
      // What is simpler than the crash's minimum still fails, always, of something else.
      planted("another-below", "sim/mlp/default/threads=8/iterations=40/sync=end/warmup=main",
              "sim/linear/default/threads=4/iterations=3",
              {assertion([](const Cell& c) { return c.threads < 4 || c.iterations < 3; }),
               crash([](const Cell& c) { return has_linear(c); })}),
      planted("nothing-needed", "sim/linear/graph/threads=8/iterations=100/lock=forward/churn=2",
              "sim/linear/default/threads=1/iterations=1",
              {crash([](const Cell&) { return true; })}),
  };
}

/// Asks whether the failure occurs, never twice for one cell.
class Oracle {
 public:
  explicit Oracle(const Planted& profile) : profile_(profile) {}

  bool fails(const Cell& cell) {
    const auto [at, fresh] = answers_.try_emplace(to_string(cell), false);
    if (!fresh) return at->second;
    if (contradiction(cell, planted_operation(cell)).has_value()) return false;
    ++questions;
    return at->second = true_rate(profile_, cell) > 0;
  }
  int questions = 0;

 private:
  const Planted& profile_;
  std::map<std::string, bool> answers_;
};

template <typename Write>
void halve(Cell& cell, int64_t failing, int64_t passing, Oracle& oracle, const Write& write) {
  while (failing - passing > 1) {
    const int64_t middle = passing + (failing - passing) / 2;
    Cell candidate = cell;
    write(candidate, middle);
    (oracle.fails(candidate) ? failing : passing) = middle;
  }
  write(cell, failing);
}

void bisect_all_axes(Cell& cell, Oracle& oracle, const std::string& signature) {
  for (const std::string_view name : axes_off_default(cell)) {
    const Cell candidate = with_defaults(cell, {name});
    if (oracle.fails(candidate)) cell = candidate;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Cell& part : parts_of(cell, planted_operations(), signature)) {
      if (!oracle.fails(part)) continue;
      cell = part;
      changed = true;
      break;
    }
  }
  halve(cell, cell.threads, 0, oracle, [](Cell& c, int64_t n) {
    c.threads = static_cast<int32_t>(n);
    if (n == 1) c.start = Start::barrier;
  });
  halve(cell, cell.processes, 0, oracle,
        [](Cell& c, int64_t n) { c.processes = static_cast<int32_t>(n); });
  halve(cell, cell.iterations, 0, oracle,
        [](Cell& c, int64_t n) { c.iterations = static_cast<int32_t>(n); });
  halve(cell, cell.churn, 0, oracle, [](Cell& c, int64_t n) { c.churn = static_cast<int32_t>(n); });
  const std::vector<int64_t> sizes = sizes_of(cell.shape);
  const std::vector<int64_t> usual = sizes_of(planted_operation(cell).shape);
  for (size_t i = 0; i < sizes.size(); ++i) {
    halve(cell, sizes[i], std::min(usual[i], sizes[i]) - 1, oracle, [i](Cell& c, int64_t n) {
      std::vector<int64_t> changed = sizes_of(c.shape);
      changed[i] = n;
      c.shape = shape_of(changed);
    });
  }
}

}  // namespace

std::span<const Planted> planted_profiles() {
  static const std::vector<Planted> kProfiles = make_profiles();
  return kProfiles;
}

const Operations& planted_operations() {
  static const Operations kOperations = [] {
    Operations operations;
    for (const OperationInfo& info :
         {operation("linear", {}, true), operation("mm"), operation("relu"),
          operation("layer_norm"), operation("mlp", {"linear", "relu"}, true),
          operation("transformer_layer", {"layer_norm", "mm", "linear", "relu"}, true)}) {
      operations.emplace(info.name, info);
    }
    return operations;
  }();
  return kOperations;
}

std::optional<TrialResult> PlantedTrials::operator()(const Cell& cell, int /*index*/) {
  for (const PlantedBug& bug : profile_.bugs) {
    // 53 bits of randomness, the same on every standard library.
    const double drawn = static_cast<double>(random_() >> 11) * 0x1p-53;
    if (bug.occurs(cell) && drawn < bug.rate) return TrialResult{Outcome::signal, bug.signature};
  }
  return TrialResult{Outcome::pass, ""};
}

double true_rate(const Planted& profile, const Cell& cell) {
  double rate = 0;
  double reached = 1;
  for (const PlantedBug& bug : profile.bugs) {
    if (!bug.occurs(cell)) continue;
    if (bug.signature == profile.signature) rate += reached * bug.rate;
    reached *= 1 - bug.rate;
  }
  return rate;
}

PlainBisection plain_bisection(const Planted& profile) {
  PlainBisection plain;
  Oracle oracle(profile);
  plain.minimum = profile.start;
  Cell before;
  do {
    before = plain.minimum;
    bisect_all_axes(plain.minimum, oracle, profile.signature);
    if (plain.once == 0) plain.once = oracle.questions;
  } while (plain.minimum != before);
  plain.repeated = oracle.questions;
  return plain;
}

}  // namespace mpsprobe
