// The backend sim where there is no LibTorch: the operations that Metal's backend has, on the
// simulated device, with the same defects.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/input/json_text.h"
#include "harness/wire/axis.h"
#include "harness/wire/honoured_axes.h"
#include "scenarios/comparison/kept_results.h"
#include "scenarios/comparison/shape.h"
#include "scenarios/metal/recipe.h"
#include "scenarios/metal/reference.h"
#include "scenarios/provenance/one_backend_program.h"
#include "scenarios/provenance/profile_path.h"
#include "scenarios/sim/defects.h"
#include "scenarios/sim/metal.h"
#include "scenarios/sim/operations.h"
#include "scenarios/sim/profile.h"
#include "scenarios/sim/start.h"
#include "scenarios/sim/stream.h"
#include "scenarios/worker/run_worker.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe::sim {
namespace {

/// The simulated device of a process that has no LibTorch. What defects and streams need, for all
/// threads.
struct SimulatedDevice {
  explicit SimulatedDevice(const Profile& profile)
      : streams(device, profile.streams), defects(profile, draw) {}

  metal::Device device;
  StreamPool streams;
  DefectEngine defects;
  PathSettings settings = PathSettings::from_environment();
};

using mpsprobe::metal::MetalOperation;
using mpsprobe::metal::Numbers;
using mpsprobe::metal::Recipe;
using mpsprobe::metal::Reference;
using mpsprobe::metal::StepKind;
using nlohmann::json;

// Streams of the seeded generator: shared parameters, then two for each thread.
constexpr uint64_t kShared = 0;
uint64_t parameters_of(int thread) {
  return 1 + 2 * static_cast<uint64_t>(thread);
}
uint64_t inputs_of(int thread) {
  return 2 + 2 * static_cast<uint64_t>(thread);
}

/// What LibTorch runs for each kind of step, in the order of StepKind.
constexpr std::array<std::string_view, 10> kEncoded{"zeros", "randn", "mm",  "linear", "add",
                                                    "relu",  "add",   "sin", "clone",  "softmax"};
static_assert(static_cast<size_t>(StepKind::softmax) == kEncoded.size() - 1);

const Operation& encoded_by(StepKind kind) {
  return *find_operation(kEncoded[static_cast<size_t>(kind)]);
}

/// What `operation` encodes goes through `device`, step by step, as LibTorch's operation of that
/// name does below the observer; its numbers are computed on the CPU. Throws UnsupportedError for
/// what the operation has not. `device` and `operation` outlive it.
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
    const Operation& operation = encoded_by(workload_.recipe_.steps[step].kind);
    const EncodePath path = workload_.path_of(operation);
    Stream& stream = simulated.streams.current();
    const EncodeResult result = simulated.defects.encode(operation, path, stream);
    if (result.exception != nullptr) throw std::runtime_error(*result.exception);
    stream.encode(path);
    return result.wrong_numbers;
  }

  Numbers drawn(size_t step) {
    const Recipe& recipe = workload_.recipe_;
    Numbers numbers(static_cast<size_t>(element_count(recipe.values[recipe.result_of(step)])));
    for (float& each : numbers) each = mpsprobe::metal::normal(generator_);
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

/// Those that encode something: an empty command buffer is no operation of LibTorch's.
const std::vector<MetalOperation>& operations_of_sim() {
  static const std::vector<MetalOperation> encoding = [] {
    std::vector<MetalOperation> all(mpsprobe::metal::metal_operations().begin(),
                                    mpsprobe::metal::metal_operations().end());
    std::erase_if(all, [](const MetalOperation& each) { return each.name == "empty_commit"; });
    return all;
  }();
  return encoding;
}

class SimProgram : public OneBackendProgram {
 public:
  SimProgram() : OneBackendProgram(Backend::sim) {}

  json describe() override {
    json axes = loop_axes();
    for (const char* own : {"shape", "stream", "model", "profile"}) axes.push_back(own);
    json operations = json::array();
    for (const MetalOperation& operation : operations_of_sim()) {
      json entry = describe_operation(operation);
      entry["axes"] = axes;
      operations.push_back(std::move(entry));
    }
    return described(std::move(operations), {{"available", true},
                                             {"simulated", true},
                                             {"device", "simulated Metal device"},
                                             {"reason", ""},
                                             {"axes", axes}});
  }

  json provenance(const Cell& cell) override {
    require_backend(cell);
    start(cell);
    json result = process_provenance();
    result["device"] = parsed_json(description_of(profile_));
    result["device"]["backend"] = name_of(Backend::sim);
    return result;
  }

  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    const MetalOperation& operation = operation_of(cell, std::span(operations_of_sim()));
    start(cell);
    return std::make_unique<SimWorkload>(operation, cell, seed, *device_);
  }

 private:
  /// By whichever of provenance and make_workload comes first, and once.
  void start(const Cell& cell) {
    if (device_ != nullptr) return;
    profile_ = load_profile(profile_path(cell.profile));
    device_ = std::make_unique<SimulatedDevice>(profile_);
    say_simulated(profile_);
  }

  Profile profile_;
  std::unique_ptr<SimulatedDevice> device_;
};

}  // namespace

}  // namespace mpsprobe::sim

int main(int argc, char** argv) {
  mpsprobe::sim::SimProgram program;
  return mpsprobe::run_worker(argc, argv, program);
}
