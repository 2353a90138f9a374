#include "scenarios/metal/metal_workload.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/wire/axis.h"
#include "scenarios/metal/kernels.h"
#include "scenarios/metal/shared_objects.h"
#include "scenarios/metal/submission.h"
#include "scenarios/objective_c/exceptions.h"
#include "scenarios/objective_c/metal_probe.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe::metal {
namespace {

/// What one thread launches and what came of it. A launch makes buffers for its results and adds to
/// the submission that is open, as LibTorch's stream does until somebody waits for it. The results
/// are kept for the comparison.
class MetalLane : public Lane {
 public:
  /// `shared` outlives the lane.
  MetalLane(SharedObjects& shared, int thread);

  std::string operation() const override { return std::string(shared_.operation().name); }
  void launch(int iteration) override;
  void synchronise() override;
  void leave() override;
  CheckResult check() override;

 private:
  using Results = std::vector<Buffer>;

  void encode(size_t step, const std::vector<Buffer>& values);
  void commit_open();
  void wait_for_all();

  SharedObjects& shared_;
  Owned<id<MTLCommandQueue>> queue_;
  Kernels kernels_;
  Uploaded inputs_;
  std::shared_ptr<const Uploaded> parameters_;
  std::optional<Submission> open_;       // not committed
  std::vector<Submission> submissions_;  // committed and not waited for
  bool device_failed_ = false;           // what results hold is undefined
  KeptResults<Results> kept_;
};

MetalLane::MetalLane(SharedObjects& shared, int thread)
    : shared_(shared),
      queue_(shared.queue_for_lane()),
      kernels_(shared.kernels_for_lane(thread)),
      inputs_(shared.inputs_for_lane(thread)),
      parameters_(shared.parameters_for_lane(thread)) {}

void MetalLane::launch(int iteration) {
  const Pool pool;
  const Recipe& recipe = shared_.recipe();
  std::vector<Buffer> values = inputs_.buffers;
  values.insert(values.end(), parameters_->buffers.begin(), parameters_->buffers.end());
  Results results;
  int64_t bytes = 0;
  for (size_t step = 0; step < recipe.steps.size(); ++step) {
    const int64_t size =
        element_count(recipe.values[recipe.result_of(step)]) * static_cast<int64_t>(sizeof(float));
    values.push_back(results.emplace_back(shared_.new_buffer(nullptr, static_cast<size_t>(size))));
    bytes += size;
  }
  with_objc_exceptions([&] {
    if (!open_) open_.emplace(queue_.get());
    for (size_t step = 0; step < recipe.steps.size(); ++step) encode(step, values);
    // Where there are none, the commit is the operation.
    if (recipe.steps.empty()) commit_open();
  });
  kept_.add(iteration, std::move(results), bytes, shared_.kept_budget());
}

void MetalLane::synchronise() {
  const Pool pool;
  with_objc_exceptions([this] { commit_open(); });
  wait_for_all();
}

// Something is open where a launch threw, or the thread was stopped before it waited. What launches
// before that encoded is theirs to be done.
void MetalLane::leave() {
  const Pool pool;
  try {
    with_objc_exceptions([this] { commit_open(); });
  } catch (const std::exception&) {
    device_failed_ = true;
  }
}

CheckResult MetalLane::check() {
  const Pool pool;
  // After a launch that threw, earlier ones may still run: their results must not be read yet.
  wait_for_all();
  CheckResult result{.unchecked = kept_.dropped()};
  if (device_failed_) {
    result.unchecked += kept_.all().size();
    return result;
  }
  std::vector<Numbers> given = inputs_.numbers;
  given.insert(given.end(), parameters_->numbers.begin(), parameters_->numbers.end());
  const Reference reference(shared_.recipe(), shared_.operation().rounding, given);
  for (const auto& kept : kept_.all()) {
    std::vector<std::span<const float>> got;
    for (const Buffer& buffer : kept.results) {
      got.emplace_back(static_cast<const float*>([buffer.get() contents]),
                       [buffer.get() length] / sizeof(float));
    }
    ++result.checked;
    std::string difference = reference.difference_in(got);
    if (!difference.empty() && result.wrong_iteration < 0) {
      result.wrong_iteration = kept.iteration;
      result.difference = std::move(difference);
    }
  }
  return result;
}

void MetalLane::commit_open() {
  if (!open_) return;
  Submission submission = *std::exchange(open_, std::nullopt);
  submission.commit();
  submissions_.push_back(std::move(submission));
}

void MetalLane::encode(size_t step, const std::vector<Buffer>& values) {
  const Recipe& recipe = shared_.recipe();
  std::vector<Buffer> sources;
  for (const size_t source : recipe.steps[step].sources) sources.push_back(values[source]);
  kernels_[step]->encode(*open_, sources, values[recipe.result_of(step)]);
  open_->note_root();
}

// All of them, whatever the first says: what still runs may not be left to itself.
void MetalLane::wait_for_all() {
  const Pool pool;
  std::string first;
  for (Submission& submission : std::exchange(submissions_, {})) {
    with_objc_exceptions([&] {
      const std::string error = submission.wait();
      if (first.empty()) first = error;
    });
  }
  if (first.empty()) return;
  device_failed_ = true;
  throw GpuError(first);
}

// MPSNDArray takes a buffer from macOS 15 on: before, there is no way without a graph.
bool system_has_arrays_of_buffers() {
  if (@available(macOS 15.0, *)) return true;
  return false;
}

bool takes_graph(const MetalOperation& operation, const Cell& cell) {
  const bool arrays = system_has_arrays_of_buffers();
  if (!operation.chooses_path) {
    if (cell.path == Path::automatic) return true;
    throw UnsupportedError("path=" + std::string(name_of(cell.path)) +
                           ": only linear chooses between a kernel and a graph, as in LibTorch. "
                           "Use path=default");
  }
  // As LibTorch's linear: without a graph where the system has what it needs.
  if (cell.path == Path::automatic) return !arrays;
  if (cell.path == Path::nograph && !arrays) {
    throw UnsupportedError(
        "path=nograph: MPSNDArray takes a buffer from macOS 15 on. Use path=graph");
  }
  return cell.path == Path::graph;
}

class MetalWorkload : public Workload {
 public:
  MetalWorkload(const MetalOperation& operation, const Cell& cell, uint64_t seed)
      : init_(cell.init), shared_(operation, cell, seed, takes_graph(operation, cell)) {
    if (cell.dtype != "default" && cell.dtype != "float32") {
      throw UnsupportedError("dtype=" + cell.dtype +
                             ": the backend metal has float32 alone. Leave dtype at its default");
    }
    if (cell.stream != StreamUse::automatic) {
      throw UnsupportedError(
          "stream=per-thread: streams are LibTorch's. Use queue=per-thread or queue=shared");
    }
  }

  void touch_device() override {
    const Pool pool;
    with_objc_exceptions([this] { shared_.device(); });
    // With init=threads nothing is made here: the probe would be part of what is tested.
    if (init_ == Init::main) probe_queue_ = shared_.new_queue();
  }

  std::unique_ptr<Lane> make_lane(int thread) override {
    const Pool pool;
    std::unique_ptr<Lane> lane;
    with_objc_exceptions([&] { lane = std::make_unique<MetalLane>(shared_, thread); });
    return lane;
  }

  void settle() override {}

  // As a thread that works beside others on one queue: what it commits is done after what they have
  // committed.
  void wait_beside() override {
    const Pool pool;
    std::string error;
    with_objc_exceptions([&] {
      Submission submission(shared_.queue_for_lane().get());
      submission.commit();
      error = submission.wait();
    });
    if (!error.empty()) throw GpuError(error);
  }

  // Which of Apple's interfaces a step goes through is this backend's own choice, so it is known.
  std::string observed_path() override {
    if (shared_.recipe().steps.empty()) return "not observed";
    const StepKind kind = shared_.recipe().steps.front().kind;
    if (takes_own_kernel(kind)) return "nograph";
    return kind == StepKind::linear && !shared_.takes_graph() ? "nograph" : "graph";
  }

  // On a queue of its own: a hung thread may hold any other.
  Probe probe(const std::function<void()>& submitted) override {
    return probe_queue_ ? probe_metal(probe_queue_.get(), submitted) : Probe::impossible;
  }

 private:
  const Init init_;
  SharedObjects shared_;
  Owned<id<MTLCommandQueue>> probe_queue_;
};

}  // namespace

std::unique_ptr<Workload> make_metal_workload(const MetalOperation& operation, const Cell& cell,
                                              uint64_t seed) {
  return std::make_unique<MetalWorkload>(operation, cell, seed);
}

}  // namespace mpsprobe::metal
