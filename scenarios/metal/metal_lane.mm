#include "scenarios/metal/metal_lane.h"

#include <span>
#include <utility>

#include "scenarios/objective_c/exceptions.h"

namespace mpsprobe::metal {
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

}  // namespace mpsprobe::metal
