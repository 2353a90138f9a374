#include "scenarios/metal/metal_workload.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/wire/axis.h"
#include "scenarios/comparison/kept_results.h"
#include "scenarios/comparison/shape.h"
#include "scenarios/metal/kernels.h"
#include "scenarios/metal/reference.h"
#include "scenarios/metal/submission.h"

namespace mpsprobe::metal {
namespace {

// Streams of the seeded generator: shared parameters, then two for each thread.
constexpr uint64_t kSharedParameters = 0;
uint64_t parameters_of(int thread) { return 1 + 2 * static_cast<uint64_t>(thread); }
uint64_t inputs_of(int thread) { return 2 + 2 * static_cast<uint64_t>(thread); }

size_t bytes_of(const Sizes& sizes) {
  size_t bytes = sizeof(float);
  for (const int64_t size : sizes) bytes *= static_cast<size_t>(size);
  return bytes;
}

/// Numbers as the CPU has them and as the device got them.
struct Uploaded {
  std::vector<Numbers> numbers;
  std::vector<Buffer> buffers;
};

/// One kernel for each step, with what lets threads take turns at those that need it.
struct Kernels {
  std::vector<std::unique_ptr<StepKernel>> steps;
  std::mutex turn;
};

class MetalWorkload : public Workload {
 public:
  MetalWorkload(const MetalOperation& operation, const Cell& cell, uint64_t seed)
      : operation_(operation),
        cell_(cell),
        seed_(seed),
        recipe_(operation.recipe(
            read_shape({operation.name, operation.shape, operation.dimensions}, cell.shape))),
        graph_(takes_graph(operation, cell)) {
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
    device();
    if (cell_.init == Init::main) {
      probe_queue_ = Owned<id<MTLCommandQueue>>::adopt([device() newCommandQueue]);
    }
  }
  std::unique_ptr<Lane> make_lane(int thread) override;
  void settle() override {}
  std::string observed_path() override;
  Probe probe(const std::function<void()>& submitted) override;

  // For lanes. Any thread.
  const MetalOperation& operation() const { return operation_; }
  const Recipe& recipe() const { return recipe_; }
  KeptBudget& kept_budget() { return kept_budget_; }
  id<MTLDevice> device() {
    std::call_once(device_made_, [this] {
      device_ = Owned<id<MTLDevice>>::adopt(MTLCreateSystemDefaultDevice());
    });
    if (!device_) throw UnsupportedError("backend metal: Metal has no device here");
    return device_.get();
  }
  Owned<id<MTLCommandQueue>> queue() {
    // MTLCommandQueue: "Each command queue is thread-safe".
    if (cell_.queue == QueueUse::per_thread) return new_queue();
    std::call_once(queue_made_, [this] { queue_ = new_queue(); });
    return queue_;
  }
  std::shared_ptr<Kernels> kernels(uint64_t stream) {
    if (cell_.kernel == KernelUse::per_thread) return new_kernels(stream);
    std::call_once(kernels_made_, [&] { kernels_ = new_kernels(kSharedParameters); });
    return kernels_;
  }
  std::shared_ptr<const Uploaded> parameters(int thread) {
    const auto make = [&](uint64_t stream) {
      return std::make_shared<Uploaded>(upload(make_parameters(recipe_, seed_, stream)));
    };
    if (cell_.model == ModelSharing::per_thread) return make(parameters_of(thread));
    std::call_once(parameters_made_, [&] { parameters_ = make(kSharedParameters); });
    return parameters_;
  }
  Uploaded upload(std::vector<Numbers> numbers) {
    Uploaded uploaded;
    for (const Numbers& each : numbers) {
      uploaded.buffers.push_back(new_buffer(each.data(), each.size() * sizeof(float)));
    }
    uploaded.numbers = std::move(numbers);
    return uploaded;
  }
  Uploaded inputs(int thread) { return upload(make_inputs(recipe_, seed_, inputs_of(thread))); }
  /// With contents where `bytes` is no null pointer.
  Buffer new_buffer(const void* contents, size_t bytes) {
    Buffer buffer = Buffer::adopt(contents == nullptr
                                      ? [device() newBufferWithLength:bytes
                                                              options:MTLResourceStorageModeShared]
                                      : [device() newBufferWithBytes:contents
                                                              length:bytes
                                                             options:MTLResourceStorageModeShared]);
    if (!buffer) {
      throw OutOfMemoryError("Metal gave no buffer of " + std::to_string(bytes) + " bytes");
    }
    return buffer;
  }

 private:
  static bool takes_graph(const MetalOperation& operation, const Cell& cell) {
    if (operation.chooses_path) {
      if (cell.path != Path::automatic) return cell.path == Path::graph;
      // As LibTorch's linear: without a graph where the system has what it needs.
      if (@available(macOS 15.0, *)) return false;
      return true;
    }
    if (cell.path != Path::automatic) {
      throw UnsupportedError("path=" + std::string(name_of(cell.path)) +
                             ": only linear chooses "
                             "between a kernel and a graph, as in LibTorch. Use path=default");
    }
    return true;
  }
  Owned<id<MTLCommandQueue>> new_queue() {
    auto queue = Owned<id<MTLCommandQueue>>::adopt([device() newCommandQueue]);
    if (!queue) throw GpuError("Metal gave no command queue");
    return queue;
  }
  std::shared_ptr<Kernels> new_kernels(uint64_t stream) {
    auto kernels = std::make_shared<Kernels>();
    for (size_t step = 0; step < recipe_.steps.size(); ++step) {
      // Samples of their own for each step that draws some.
      const uint64_t seed = seed_ * 1'000'003 + stream * 1'009 + step;
      kernels->steps.push_back(make_kernel(device(), recipe_, step, graph_, seed));
    }
    return kernels;
  }

  const MetalOperation& operation_;
  const Cell cell_;
  const uint64_t seed_;
  const Recipe recipe_;
  const bool graph_;
  KeptBudget kept_budget_{kKeptBytes};
  std::once_flag device_made_;
  Owned<id<MTLDevice>> device_;
  std::once_flag queue_made_;
  Owned<id<MTLCommandQueue>> queue_;
  std::once_flag kernels_made_;
  std::shared_ptr<Kernels> kernels_;
  std::once_flag parameters_made_;
  std::shared_ptr<const Uploaded> parameters_;
  Owned<id<MTLCommandQueue>> probe_queue_;
};

class MetalLane : public Lane {
 public:
  MetalLane(MetalWorkload& workload, int thread)
      : workload_(workload),
        queue_(workload.queue()),
        kernels_(workload.kernels(inputs_of(thread))),
        inputs_(workload.inputs(thread)),
        parameters_(workload.parameters(thread)) {}

  std::string operation() const override { return std::string(workload_.operation().name); }

  void launch(int iteration) override {
    const Pool pool;
    const Recipe& recipe = workload_.recipe();
    std::vector<Buffer> values = inputs_.buffers;
    values.insert(values.end(), parameters_->buffers.begin(), parameters_->buffers.end());
    Results results;
    int64_t bytes = 0;
    for (size_t step = 0; step < recipe.steps.size(); ++step) {
      const size_t size = bytes_of(recipe.values[recipe.result_of(step)]);
      values.push_back(results.emplace_back(workload_.new_buffer(nullptr, size)));
      bytes += static_cast<int64_t>(size);
    }
    with_objc_exceptions([&] {
      submissions_.push_back(Submission(queue_.get(), [&](MPSCommandBuffer* buffer) {
        for (size_t step = 0; step < recipe.steps.size(); ++step) {
          encode(buffer, step, values);
        }
      }));
    });
    kept_.add(iteration, std::move(results), bytes, workload_.kept_budget());
  }

  void synchronise() override {
    const Pool pool;
    for (Submission& submission : std::exchange(submissions_, {})) submission.wait();
  }

  CheckResult check() override {
    const Pool pool;
    const Recipe& recipe = workload_.recipe();
    std::vector<Numbers> given = inputs_.numbers;
    given.insert(given.end(), parameters_->numbers.begin(), parameters_->numbers.end());
    CheckResult result{.unchecked = kept_.dropped()};
    for (const auto& kept : kept_.all()) {
      std::vector<std::span<const float>> got;
      for (const Buffer& buffer : kept.results) {
        got.emplace_back(static_cast<const float*>([buffer.get() contents]),
                         [buffer.get() length] / sizeof(float));
      }
      ++result.checked;
      std::string difference = difference_in(recipe, workload_.operation().rounding, given, got);
      if (!difference.empty() && result.wrong_iteration < 0) {
        result.wrong_iteration = kept.iteration;
        result.difference = std::move(difference);
      }
    }
    return result;
  }

 private:
  using Results = std::vector<Buffer>;

  void encode(MPSCommandBuffer* buffer, size_t step, const std::vector<Buffer>& values) {
    const Recipe& recipe = workload_.recipe();
    std::vector<Buffer> sources;
    for (const size_t source : recipe.steps[step].sources) sources.push_back(values[source]);
    StepKernel& kernel = *kernels_->steps[step];
    std::unique_lock<std::mutex> turn(kernels_->turn, std::defer_lock);
    if (kernel.threads_take_turns()) turn.lock();
    kernel.encode(buffer, sources, values[recipe.result_of(step)]);
  }

  MetalWorkload& workload_;
  Owned<id<MTLCommandQueue>> queue_;
  std::shared_ptr<Kernels> kernels_;
  Uploaded inputs_;
  std::shared_ptr<const Uploaded> parameters_;
  std::vector<Submission> submissions_;  // committed and not waited for
  KeptResults<Results> kept_;
};

std::unique_ptr<Lane> MetalWorkload::make_lane(int thread) {
  const Pool pool;
  std::unique_ptr<Lane> lane;
  with_objc_exceptions([&] { lane = std::make_unique<MetalLane>(*this, thread); });
  return lane;
}

// Which of Apple's interfaces a step goes through is this backend's own choice, so it is known.
std::string MetalWorkload::observed_path() {
  switch (recipe_.steps.front().kind) {
    case StepKind::zeros:
      return "blit";
    case StepKind::linear:
      return graph_ ? "graph" : "nograph";
    default:
      return "graph";
  }
}

// On a queue of its own: a hung thread may hold any other. The command buffer is left to the
// process, which is ended after this.
Probe MetalWorkload::probe(const std::function<void()>& submitted) {
  const Pool pool;
  if (!probe_queue_) return Probe::impossible;
  id<MTLCommandBuffer> const buffer = [[probe_queue_.get() commandBuffer] retain];
  if (buffer == nil) return Probe::failed;
  [buffer commit];
  submitted();
  [buffer waitUntilCompleted];
  return [buffer status] == MTLCommandBufferStatusCompleted ? Probe::completed : Probe::failed;
}

}  // namespace

std::unique_ptr<Workload> make_metal_workload(const MetalOperation& operation, const Cell& cell,
                                              uint64_t seed) {
  return std::make_unique<MetalWorkload>(operation, cell, seed);
}

}  // namespace mpsprobe::metal
