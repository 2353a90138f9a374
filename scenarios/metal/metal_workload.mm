#include "scenarios/metal/metal_workload.h"

#include <string>

#include "harness/wire/axis.h"
#include "scenarios/metal/kernels.h"
#include "scenarios/metal/metal_lane.h"
#include "scenarios/metal/shared_objects.h"
#include "scenarios/metal/submission.h"
#include "scenarios/objective_c/exceptions.h"
#include "scenarios/objective_c/metal_probe.h"

namespace mpsprobe::metal {
namespace {

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
