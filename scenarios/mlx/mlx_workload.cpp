#include "scenarios/mlx/mlx_workload.h"

#include <fmt/format.h>
#include <mlx/array.h>
#include <mlx/compile.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>
#include <mlx/version.h>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/wire/axis.h"
#include "scenarios/comparison/shape.h"
#include "scenarios/mlx/arrays.h"
#include "scenarios/mlx/mlx_device.h"

namespace mpsprobe {
namespace {

/// What one thread launches and what came of it. Results are read back by the thread that asked for
/// them, as a program does, and compared after all threads have joined.
class MlxLane : public Lane {
 public:
  /// `workload` outlives the lane.
  MlxLane(MlxWorkload& workload, int thread);

  std::string operation() const override;
  void enter() override;
  void launch(int iteration) override;
  void synchronise() override;
  void leave() override;
  CheckResult check() override;

 private:
  using Results = std::vector<HostArray>;

  Arrays run(int iteration);
  Arrays run_released();
  void keep(int iteration, const Arrays& results);
  int alone_thread() const;
  std::string difference_in(const Results& results, const Results& expected) const;

  MlxWorkload& workload_;
  const int thread_;
  std::optional<MlxBelongings> own_;
  std::vector<std::pair<int, Arrays>> pending_;  ///< iteration and results that were not waited for
  uint64_t never_waited_for_ = 0;
  KeptResults<Results> kept_;
  std::vector<double> units_;  ///< of each expected result
};

namespace mx = ::mlx::core;

/// Runs on a thread that has ended when this returns; what it throws is thrown here.
template <typename Work>
void on_another_thread(Work work) {
  std::exception_ptr error;
  std::thread([&] {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
}

template <typename Number>
std::vector<float> numbers_of(const mx::array& array) {
  const Number* const data = array.data<Number>();
  std::vector<float> numbers(array.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(data[i]);
  return numbers;
}

// Of an array that has been computed. All results of the table lie in row-major order.
HostArray read_back(const mx::array& array) {
  const Sizes sizes(array.shape().begin(), array.shape().end());
  if (!array.flags().row_contiguous) {
    throw std::runtime_error("a result does not lie in row-major order");
  }
  if (array.dtype() == mx::float32) return {sizes, numbers_of<float>(array)};
  if (array.dtype() == mx::float16) return {sizes, numbers_of<mx::float16_t>(array)};
  return {sizes, numbers_of<int32_t>(array)};
}

std::vector<double> widened(const std::vector<float>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Distance from 1 to the next number of the type, or of the one in which products are computed.
double unit_of(mx::Dtype type, Rounding rounding, mx::Device device) {
  if (type == mx::float32 && rounding == Rounding::accumulated && mlx_has_tf32(device)) {
    return 0x1p-10;
  }
  if (type == mx::float16) return 0x1p-10;
  return type == mx::float32 ? kFloat32Unit : 0;
}

MlxLane::MlxLane(MlxWorkload& workload, int thread) : workload_(workload), thread_(thread) {
  if (workload.owner() == Owner::thread) return;
  const auto make = [this] {
    own_ = workload_.make_belongings(thread_);
    if (workload_.operation().evaluation == Evaluation::shared) workload_.make_shared_arrays();
  };
  if (workload.owner() == Owner::main) {
    make();
  } else {
    on_another_thread(make);
  }
}

std::string MlxLane::operation() const {
  const MlxOperation& operation = workload_.operation();
  return std::string(operation.variant_name != nullptr ? operation.variant_name(thread_)
                                                       : operation.name);
}

void MlxLane::enter() {
  // Before the start: all threads evaluate what one of them has made.
  if (workload_.operation().evaluation == Evaluation::shared) workload_.make_shared_arrays();
}

void MlxLane::launch(int iteration) {
  // After the start, as a thread of a program does: it makes its stream while others compute.
  if (!own_.has_value()) own_ = workload_.make_belongings(thread_);
  Arrays results = run(iteration);
  if (workload_.operation().evaluation == Evaluation::async) {
    mx::async_eval(results);
    workload_.show(results);
    pending_.emplace_back(iteration, std::move(results));
    return;
  }
  mx::eval(results);
  keep(iteration, results);
}

Arrays MlxLane::run(int iteration) {
  const MlxOperation& operation = workload_.operation();
  switch (operation.evaluation) {
    case Evaluation::shared:
      return workload_.shared_arrays(iteration);
    case Evaluation::compiled:
      return workload_.run_compiled(*own_);
    case Evaluation::released:
      return run_released();
    default:
      return operation.run(
          {workload_.sizes(), own_->inputs, own_->parameters, own_->stream, thread_});
  }
}

// A function that gives other numbers is compiled, called, and released by a thread that has never
// traced it; then the one whose result counts. Both have inputs of the same shapes.
Arrays MlxLane::run_released() {
  const auto compiled = [this](float more) {
    return std::make_unique<MlxFunction>(mx::compile(MlxFunction([this, more](const Arrays& given) {
      Arrays results = workload_.operation().run(
          {workload_.sizes(), {given[0]}, {given[1]}, own_->stream, thread_});
      return Arrays{mx::add(results[0], mx::array(more), own_->stream)};
    })));
  };
  const Arrays given{own_->inputs[0], own_->parameters[0]};
  auto other = compiled(1000.0F);
  mx::eval((*other)(given));
  on_another_thread([&other] { other.reset(); });
  return (*compiled(0.0F))(given);
}

void MlxLane::synchronise() {
  if (!own_.has_value()) return;
  mx::synchronize(own_->stream);
  for (auto& [iteration, results] : pending_) {
    mx::eval(results);  // returns at once: the stream has been waited for
    keep(iteration, results);
  }
  pending_.clear();
}

void MlxLane::leave() {
  never_waited_for_ += pending_.size();
  pending_.clear();
  if (workload_.owner() == Owner::thread) own_.reset();
#if MLX_VERSION_NUMERIC >= 31002
  if (workload_.clears_streams()) mx::clear_streams();
#endif
}

void MlxLane::keep(int iteration, const Arrays& results) {
  Results numbers;
  int64_t bytes = 0;
  for (const mx::array& each : results) {
    numbers.push_back(read_back(each));
    bytes += static_cast<int64_t>(each.nbytes());
  }
  kept_.add(iteration, std::move(numbers), bytes, workload_.kept_budget());
}

CheckResult MlxLane::check() {
  CheckResult result{.unchecked = kept_.dropped() + never_waited_for_};
  if (kept_.all().empty()) return result;
  // The same operation once more, alone: on the CPU, by one thread, on its own stream.
  Arrays expected_arrays = workload_.operation().run(
      {workload_.sizes(), to_arrays(workload_.numbers_of_inputs(alone_thread())),
       to_arrays(workload_.numbers_of_parameters(alone_thread())),
       mx::default_stream(mx::Device::cpu), thread_});
  mx::eval(expected_arrays);
  Results expected;
  units_.clear();
  for (const mx::array& each : expected_arrays) {
    expected.push_back(read_back(each));
    units_.push_back(unit_of(each.dtype(), workload_.operation().rounding, workload_.device()));
  }
  for (const auto& kept : kept_.all()) {
    ++result.checked;
    std::string difference = difference_in(kept.results, expected);
    if (difference.empty() || result.wrong_iteration >= 0) continue;
    result.wrong_iteration = kept.iteration;
    result.difference = std::move(difference);
  }
  return result;
}

// Lazy arrays that all threads evaluate are of the first one's numbers.
int MlxLane::alone_thread() const {
  return workload_.operation().evaluation == Evaluation::shared ? 0 : thread_;
}

std::string MlxLane::difference_in(const Results& results, const Results& expected) const {
  const MlxOperation& operation = workload_.operation();
  if (operation.verify == MlxVerify::unlike) {
    const int other = workload_.first_with(thread_, kept_.all().front().results[0].numbers);
    if (other != thread_) return fmt::format("the very numbers that thread {} drew", other);
  }
  const int64_t terms = operation.terms == nullptr ? 1 : operation.terms(workload_.sizes());
  for (size_t i = 0; i < results.size(); ++i) {
    const HostArray& got = results[i];
    const Tolerance within = tolerance(operation.rounding, units_[i], terms);
    const bool sample = operation.verify == MlxVerify::normal ||
                        operation.verify == MlxVerify::unlike ||
                        (operation.verify == MlxVerify::raw && i + 1 < results.size());
    std::string found;
    if (got.sizes != expected[i].sizes) {
      found = fmt::format("sizes {} instead of {}", in_brackets(got.sizes),
                          in_brackets(expected[i].sizes));
    } else if (sample) {
      found = difference_from_normal(widened(got.numbers), got.sizes);
    } else if (operation.verify == MlxVerify::raw) {
      // The product of the very samples that the launch drew.
      found = difference_of_values(widened(got.numbers), positive_product(results[0], results[1]),
                                   got.sizes, within);
    } else {
      found = difference_of_values(widened(got.numbers), widened(expected[i].numbers), got.sizes,
                                   within);
    }
    if (!found.empty()) {
      return results.size() == 1 ? found : fmt::format("result {}: {}", i + 1, found);
    }
  }
  return {};
}

void refuse(const std::string& what) {
  throw UnsupportedError(what);
}

void check_axes(const MlxOperation& operation, const Cell& cell) {
  const std::string name(operation.name);
  if (cell.path != Path::automatic) {
    refuse("path=" + std::string(name_of(cell.path)) +
           ": paths are LibTorch's. Leave path at its default");
  }
  if (cell.dtype != "default" && cell.dtype != "float32") {
    refuse("dtype=" + cell.dtype + ": the backend mlx has float32 alone. Leave dtype out");
  }
#if MLX_VERSION_NUMERIC < 32000
  if (cell.stream == StreamUse::thread_unsafe) {
    refuse("stream=thread-unsafe: MLX has new_thread_unsafe_stream since 0.32.0");
  }
#endif
#if MLX_VERSION_NUMERIC < 31002
  if (cell.leave == Leave::clear_streams) {
    refuse("leave=clear-streams: MLX has clear_streams since 0.31.2");
  }
#endif
  if (operation.evaluation == Evaluation::compiled && cell.stream != StreamUse::automatic) {
    refuse(
        "stream other than default: a compiled function keeps the stream of the call that traced "
        "it, so that all threads use that one. Use stream=default");
  }
  if (operation.evaluation == Evaluation::shared && cell.stream != StreamUse::automatic) {
    refuse("stream other than default: the arrays of " + name +
           " are one thread's, with one stream. Use stream=default");
  }
  if (cell.beside == BesideThreads::wait && operation.evaluation != Evaluation::async) {
    refuse("beside=wait: " + name +
           " waits by itself, so that no other thread can. Use op=async_eval");
  }
  if (cell.sync == Sync::never && operation.evaluation != Evaluation::async) {
    refuse("sync=never: " + name + " waits by itself. Use op=async_eval");
  }
}

// Streams of the seeded generator: shared weights, then two for each thread.
uint64_t inputs_of(int thread) {
  return 2 + 2 * static_cast<uint64_t>(thread);
}

}  // namespace

MlxWorkload::MlxWorkload(const MlxOperation& operation, const Cell& cell, uint64_t seed)
    : operation_(operation),
      sizes_(read_shape({operation.name, operation.shape, operation.dimensions, operation.refuse},
                        cell.shape)),
      device_(mlx_device(cell.device)),
      stream_(cell.stream),
      waits_beside_(cell.beside == BesideThreads::wait),
      model_(cell.model),
      owner_(cell.owner),
      leave_(cell.leave),
      launches_(cell.lifetime == Lifetime::fresh ? 1 : cell.iterations * cell.churn) {
  check_axes(operation, cell);
  // Numbers are made here, on the CPU and without MLX: they are no part of what is tested.
  for (int thread = 0; thread < cell.threads; ++thread) {
    Numbers numbers(seed, inputs_of(thread));
    inputs_.push_back(operation.inputs != nullptr ? operation.inputs(numbers, sizes_)
                                                  : std::vector<HostArray>{});
    const bool own = model_ == ModelSharing::per_thread;
    if (operation.parameters != nullptr && (own || thread == 0)) {
      Numbers weights(seed, own ? inputs_of(thread) - 1 : 0);
      parameters_.push_back(operation.parameters(weights, sizes_));
    }
  }
}

const std::vector<HostArray>& MlxWorkload::numbers_of_parameters(int thread) const {
  static const std::vector<HostArray> kNone;
  if (parameters_.empty()) return kNone;
  return parameters_[model_ == ModelSharing::per_thread ? static_cast<size_t>(thread) : 0];
}

void MlxWorkload::touch_device() {
  mx::eval(mx::add(mx::array(1.0F), mx::array(1.0F), device_));
}

std::unique_ptr<Lane> MlxWorkload::make_lane(int thread) {
  return std::make_unique<MlxLane>(*this, thread);
}

mx::Stream MlxWorkload::new_stream_or_default() const {
  if (stream_ == StreamUse::per_thread) return mx::new_stream(device_);
#if MLX_VERSION_NUMERIC >= 32000
  if (stream_ == StreamUse::thread_unsafe) return mx::new_thread_unsafe_stream(device_);
#endif
  return mx::default_stream(device_);
}

MlxBelongings MlxWorkload::make_belongings(int thread) {
  MlxBelongings own{new_stream_or_default(), to_arrays(numbers_of_inputs(thread)), {}};
  if (model_ == ModelSharing::per_thread) {
    own.parameters = to_arrays(numbers_of_parameters(thread));
  } else {
    std::call_once(parameters_made_,
                   [&] { shared_parameters_ = to_arrays(numbers_of_parameters(thread)); });
    own.parameters = shared_parameters_;
  }
  return own;
}

void MlxWorkload::make_shared_arrays() {
  std::call_once(arrays_made_, [this] {
    const MlxBelongings own = make_belongings(0);
    for (int launch = 0; launch < launches_; ++launch) {
      shared_arrays_.push_back(operation_.run({sizes_, own.inputs, own.parameters, own.stream, 0}));
    }
  });
}

Arrays MlxWorkload::run_compiled(const MlxBelongings& own) {
  std::call_once(compiled_, [this, inputs = own.inputs.size()] {
    function_ = mx::compile(MlxFunction([this, inputs](const Arrays& given) {
      const auto middle = given.begin() + static_cast<std::ptrdiff_t>(inputs);
      return operation_.run(
          {sizes_, {given.begin(), middle}, {middle, given.end()}, mx::default_stream(device_), 0});
    }));
  });
  Arrays given = own.inputs;
  given.insert(given.end(), own.parameters.begin(), own.parameters.end());
  return function_(given);
}

void MlxWorkload::show(const Arrays& results) {
  if (!waits_beside_) return;
  const std::lock_guard<std::mutex> lock(shown_mutex_);
  shown_ = results;
}

void MlxWorkload::wait_beside() {
  Arrays arrays;
  {
    const std::lock_guard<std::mutex> lock(shown_mutex_);
    arrays = shown_;
  }
  for (mx::array& each : arrays) each.wait();
}

int MlxWorkload::first_with(int thread, const std::vector<float>& numbers) {
  return drawn_.try_emplace(numbers, thread).first->second;
}

}  // namespace mpsprobe
