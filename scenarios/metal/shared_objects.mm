#include "scenarios/metal/shared_objects.h"

#include <string>
#include <utility>

#include "scenarios/comparison/shape.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe::metal {
namespace {

// Streams of the seeded generator: shared parameters, then two for each thread.
constexpr uint64_t kShared = 0;
uint64_t parameters_of(int thread) { return 1 + 2 * static_cast<uint64_t>(thread); }
uint64_t inputs_of(int thread) { return 2 + 2 * static_cast<uint64_t>(thread); }

}  // namespace

SharedObjects::SharedObjects(const MetalOperation& operation, const Cell& cell, uint64_t seed,
                             bool graph)
    : operation_(operation),
      cell_(cell),
      seed_(seed),
      graph_(graph),
      recipe_(operation.recipe(
          read_shape({operation.name, operation.shape, operation.dimensions}, cell.shape))) {}

id<MTLDevice> SharedObjects::device() {
  std::call_once(device_made_,
                 [this] { device_ = Owned<id<MTLDevice>>::adopt(MTLCreateSystemDefaultDevice()); });
  if (!device_) throw UnsupportedError("backend metal: Metal has no device here");
  return device_.get();
}

Owned<id<MTLCommandQueue>> SharedObjects::new_queue() {
  auto queue = Owned<id<MTLCommandQueue>>::adopt([device() newCommandQueue]);
  if (!queue) throw GpuError("Metal gave no command queue");
  return queue;
}

Buffer SharedObjects::new_buffer(const void* contents, size_t bytes) {
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

Owned<id<MTLCommandQueue>> SharedObjects::queue_for_lane() {
  // MTLCommandQueue: "Each command queue is thread-safe".
  if (cell_.queue == QueueUse::per_thread) return new_queue();
  std::call_once(queue_made_, [this] { queue_ = new_queue(); });
  return queue_;
}

Kernels SharedObjects::kernels_for_lane(int thread) {
  Kernels kernels;
  for (size_t step = 0; step < recipe_.steps.size(); ++step) {
    // Samples of their own for each step that draws some.
    const uint64_t seed = seed_ * 1'000'003 + inputs_of(thread) * 1'009 + step;
    kernels.push_back(make_kernel(device(), recipe_, step, graph_, seed));
  }
  return kernels;
}

std::shared_ptr<const Uploaded> SharedObjects::parameters_for_lane(int thread) {
  const auto make = [&](uint64_t stream) {
    return std::make_shared<Uploaded>(upload(make_parameters(recipe_, seed_, stream)));
  };
  if (cell_.model == ModelSharing::per_thread) return make(parameters_of(thread));
  std::call_once(parameters_made_, [&] { parameters_ = make(kShared); });
  return parameters_;
}

Uploaded SharedObjects::inputs_for_lane(int thread) {
  return upload(make_inputs(recipe_, seed_, inputs_of(thread)));
}

Uploaded SharedObjects::upload(std::vector<Numbers> numbers) {
  Uploaded uploaded;
  for (const Numbers& each : numbers) {
    uploaded.buffers.push_back(new_buffer(each.data(), each.size() * sizeof(float)));
  }
  uploaded.numbers = std::move(numbers);
  return uploaded;
}

}  // namespace mpsprobe::metal
