#include "scenarios/sim/worker/sim_workload.h"

#include <algorithm>
#include <mutex>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "scenarios/comparison/kept_results.h"
#include "scenarios/comparison/shape.h"
#include "scenarios/metal/reference.h"
#include "scenarios/sim/start.h"

namespace mpsprobe::sim {
namespace {

using mpsprobe::metal::MetalOperation;
using mpsprobe::metal::Numbers;
using mpsprobe::metal::Recipe;
using mpsprobe::metal::Reference;
using mpsprobe::metal::StepKind;

// Streams of the seeded generator: shared parameters, then two for each thread.
constexpr uint64_t kShared = 0;
uint64_t parameters_of(int thread) {
  return 1 + 2 * static_cast<uint64_t>(thread);
}
uint64_t inputs_of(int thread) {
  return 2 + 2 * static_cast<uint64_t>(thread);
}

/// What LibTorch runs for the step.
const Operation& encoded_by(StepKind kind) {
  switch (kind) {
    case StepKind::zeros:
      return *find_operation("zeros");
    case StepKind::normal:
      return *find_operation("randn");
    case StepKind::product:
      return *find_operation("mm");
    case StepKind::linear:
      return *find_operation("linear");
    case StepKind::relu:
      return *find_operation("relu");
    case StepKind::sine:
      return *find_operation("sin");
    case StepKind::strided_copy:
      return *find_operation("clone");
    case StepKind::softmax:
      return *find_operation("softmax");
    case StepKind::addition:
    case StepKind::axpy:
      break;
  }
  return *find_operation("add");
}

class SimWorkload : public Workload {
 public:
  SimWorkload(const MetalOperation& operation, const Cell& cell, uint64_t seed,
              SimulatedDevice& device)
      : operation_(operation),
        cell_(cell),
        seed_(seed),
        device_(device),
        recipe_(operation.recipe(
            read_shape({operation.name, operation.shape, operation.dimensions}, cell.shape))) {
    if (cell.path != Path::automatic && !operation.chooses_path) {
      throw UnsupportedError("path=" + std::string(name_of(cell.path)) +
                             ": only linear chooses between a kernel and a graph. Use "
                             "path=default");
    }
  }

  void touch_device() override { device_.streams.current().synchronise(); }
  std::unique_ptr<Lane> make_lane(int thread) override;
  void settle() override { device_.streams.synchronise_all(); }
  void wait_beside() override { settle(); }
  std::string observed_path() override {
    return std::string(name_of(path_of(encoded_by(recipe_.steps.back().kind))));
  }
  Probe probe(const std::function<void()>& submitted) override {
    submitted();
    const std::unique_ptr<metal::CommandQueue> queue = device_.device.new_command_queue();
    const std::shared_ptr<metal::CommandBuffer> buffer = queue->command_buffer();
    buffer->commit();
    return buffer->status() == metal::CommandBufferStatus::completed ? Probe::completed
                                                                     : Probe::failed;
  }

  EncodePath path_of(const Operation& operation) const {
    return choose_path(operation.rule, device_.settings, cell_.path != Path::graph);
  }
  const Recipe& recipe() const { return recipe_; }

 private:
  friend class SimLane;

  std::shared_ptr<const std::vector<Numbers>> parameters_for(int thread) {
    const auto make = [&](uint64_t stream) {
      return std::make_shared<const std::vector<Numbers>>(make_parameters(recipe_, seed_, stream));
    };
    if (cell_.model == ModelSharing::per_thread) return make(parameters_of(thread));
    std::call_once(parameters_made_, [&] { parameters_ = make(kShared); });
    return parameters_;
  }

  const MetalOperation& operation_;
  const Cell cell_;
  const uint64_t seed_;
  SimulatedDevice& device_;
  const Recipe recipe_;
  KeptBudget kept_budget_{kKeptBytes};
  std::once_flag parameters_made_;
  std::shared_ptr<const std::vector<Numbers>> parameters_;
};

class SimLane : public Lane {
 public:
  SimLane(SimWorkload& workload, int thread)
      : workload_(workload),
        given_(make_inputs(workload.recipe_, workload.seed_, inputs_of(thread))),
        generator_(workload.seed_ * 1'000'003 + inputs_of(thread)) {
    const auto parameters = workload.parameters_for(thread);
    given_.insert(given_.end(), parameters->begin(), parameters->end());
  }

  std::string operation() const override { return std::string(workload_.operation_.name); }

  void enter() override {
    if (workload_.cell_.stream == StreamUse::per_thread)
      workload_.device_.streams.use_pool_stream();
  }

  void launch(int iteration) override {
    const Recipe& recipe = workload_.recipe_;
    std::vector<Numbers> values = given_;
    int64_t bytes = 0;
    for (size_t step = 0; step < recipe.steps.size(); ++step) {
      const bool wrong = encode(step);
      values.push_back(recipe.steps[step].kind == StepKind::normal
                           ? drawn(step)
                           : computed(recipe, step, values));
      if (wrong) std::fill(values.back().begin(), values.back().end(), kOverwritten);
      bytes += static_cast<int64_t>(values.back().size() * sizeof(float));
    }
    values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(given_.size()));
    kept_.add(iteration, std::move(values), bytes, workload_.kept_budget_);
  }

  void synchronise() override { workload_.device_.streams.current().synchronise(); }

  CheckResult check() override {
    CheckResult result{.unchecked = kept_.dropped()};
    const Reference reference(workload_.recipe_, workload_.operation_.rounding, given_);
    for (const auto& kept : kept_.all()) {
      ++result.checked;
      const std::vector<std::span<const float>> got(kept.results.begin(), kept.results.end());
      std::string difference = reference.difference_in(got);
      if (difference.empty() || result.wrong_iteration >= 0) continue;
      result.wrong_iteration = kept.iteration;
      result.difference = std::move(difference);
    }
    return result;
  }

 private:
  /// Whether a defect wants the step's result overwritten.
  bool encode(size_t step) {
    SimulatedDevice& simulated = workload_.device_;
    const Recipe& recipe = workload_.recipe_;
    const Operation& operation = encoded_by(recipe.steps[step].kind);
    const EncodePath path = workload_.path_of(operation);
    Stream& stream = simulated.streams.current();
    const EncodeResult result = simulated.defects.encode(operation, path, stream);
    if (result.exception != nullptr) throw std::runtime_error(*result.exception);
    // As graphs are cached: by kernel and by the shapes of what goes in.
    std::string key(operation.kernel);
    for (const size_t source : recipe.steps[step].sources) {
      key += ':';
      for (const int64_t size : recipe.values[source]) key += std::to_string(size) + ',';
    }
    stream.encode(simulated.device, path, path == EncodePath::graph ? key : std::string());
    return result.wrong_numbers;
  }

  Numbers drawn(size_t step) {
    const Recipe& recipe = workload_.recipe_;
    Numbers numbers(static_cast<size_t>(element_count(recipe.values[recipe.result_of(step)])));
    std::normal_distribution<float> normal;
    for (float& each : numbers) each = normal(generator_);
    return numbers;
  }

  SimWorkload& workload_;
  std::vector<Numbers> given_;  // inputs, then parameters
  std::mt19937_64 generator_;
  KeptResults<std::vector<Numbers>> kept_;
};

std::unique_ptr<Lane> SimWorkload::make_lane(int thread) {
  return std::make_unique<SimLane>(*this, thread);
}

}  // namespace

SimulatedDevice::SimulatedDevice(const Profile& profile)
    : streams(device, profile.streams), defects(profile, draw) {}

std::unique_ptr<Workload> make_sim_workload(const MetalOperation& operation, const Cell& cell,
                                            uint64_t seed, SimulatedDevice& device) {
  return std::make_unique<SimWorkload>(operation, cell, seed, device);
}

}  // namespace mpsprobe::sim
