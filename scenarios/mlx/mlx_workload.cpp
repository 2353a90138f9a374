#include "scenarios/mlx/mlx_workload.h"

#include <mlx/array.h>
#include <mlx/compile.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>
#include <mlx/version.h>

#include <string>

#include "harness/wire/axis.h"
#include "scenarios/comparison/shape.h"
#include "scenarios/mlx/arrays.h"
#include "scenarios/mlx/mlx_device.h"
#include "scenarios/mlx/mlx_lane.h"

namespace mpsprobe {
namespace {

namespace mx = ::mlx::core;

Sizes read_sizes(const MlxOperation& operation, const std::string& shape) {
  const ShapeForm form{operation.name, operation.shape, operation.dimensions};
  Sizes sizes = read_shape(form, shape);
  if (operation.refuse != nullptr) {
    if (const std::string_view problem = operation.refuse(sizes); !problem.empty()) {
      refuse_shape(form, shape, problem);
    }
  }
  return sizes;
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
      sizes_(read_sizes(operation, cell.shape)),
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
