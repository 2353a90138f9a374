#include "scenarios/operations/torch_workload.h"

#include <fmt/format.h>

#include <utility>

#include "harness/wire/axis.h"
#include "scenarios/operations/cpu_side.h"
#include "scenarios/operations/sizes.h"
#include "scenarios/operations/torch_errors.h"
#include "scenarios/operations/torch_lane.h"

namespace mpsprobe {
namespace {

// Streams of the seeded generator: shared parameters, then two for each thread.
constexpr uint64_t kSharedParameters = 0;
uint64_t parameters_of(int thread) {
  return 1 + 2 * static_cast<uint64_t>(thread);
}

}  // namespace

TorchWorkload::TorchWorkload(const Operation& operation, const Cell& cell, uint64_t seed,
                             std::unique_ptr<Device> device, int64_t kept_bytes)
    : operation_(operation),
      sizes_(read_sizes(operation, cell.shape)),
      shapes_(cell.shapes),
      dtype_(read_dtype(operation, cell.dtype)),
      path_(cell.path),
      stream_(cell.stream),
      wait_(cell.wait),
      sync_(cell.sync),
      beside_(cell.beside),
      model_(cell.model),
      seed_(seed),
      device_(std::move(device)),
      kept_budget_(kept_bytes) {
  if (operation_.only_on.has_value() && operation_.only_on != cell.backend) {
    throw UnsupportedError(fmt::format("op={}: it is for the backend {} alone", operation_.name,
                                       name_of(*operation_.only_on)));
  }
  if (cell.meet == Meet::stage && !operation_.has_stages) {
    throw UnsupportedError(fmt::format(
        "meet=stage: {} has no stages to meet between. Use meet=launch", operation_.name));
  }
  if (device_->path_choice() == PathChoice::capture) {
    if (captures() && !operation_.capturable) {
      throw UnsupportedError(fmt::format(
          "path=graph: {} cannot be captured into a graph. Use path=default", operation_.name));
    }
  } else if (path_ != Path::automatic && !operation_.ends_in_linear) {
    throw UnsupportedError(
        fmt::format("path={}: only operations that end in aten::linear choose between graph and "
                    "nograph, and {} does not. Use path=default",
                    name_of(path_), operation_.name));
  }
}

void TorchWorkload::touch_device() {
  with_worker_errors([&] { device_->touch(); });
}

std::unique_ptr<Lane> TorchWorkload::make_lane(int thread) {
  return with_worker_errors(
      [&]() -> std::unique_ptr<Lane> { return std::make_unique<TorchLane>(*this, thread, seed_); });
}

Sizes TorchWorkload::sizes_for(int thread) const {
  if (shapes_ == Shapes::same) return sizes_;
  // The first is the batch or the sequence: no weight depends on it, unless it is the only one.
  if (sizes_.size() == 1 && operation_.has_parameters()) {
    throw UnsupportedError(
        "shapes=per-thread: with a single size, threads that share weights share it. Use a shape "
        "of more dimensions");
  }
  constexpr int64_t kApart = 7;
  Sizes sizes = sizes_;
  sizes.front() += kApart * thread;
  return sizes;
}

void TorchWorkload::settle() {
  with_worker_errors([&] { device_->settle(); });
}

void TorchWorkload::wait_beside() {
  with_worker_errors([&] { device_->beside(beside_); });
}

std::string TorchWorkload::observed_path() {
  for (const std::string_view name : operation_.observed_as) {
    std::string path = device_->observed_path(name);
    if (path != kNotObserved) {
      return path;
    }
  }
  return std::string(kNotObserved);
}

std::shared_ptr<const TorchWorkload::Parameters> TorchWorkload::parameters_for(int thread) {
  if (model_ == ModelSharing::per_thread) {
    return make_parameters(parameters_of(thread));
  }
  std::call_once(shared_made_, [&] { shared_ = make_parameters(kSharedParameters); });
  return shared_;
}

std::shared_ptr<const TorchWorkload::Parameters> TorchWorkload::make_parameters(uint64_t stream) {
  auto parameters = std::make_shared<Parameters>();
  if (!operation_.has_parameters()) {
    return parameters;
  }
  {
    const CpuSide cpu_side;
    Random random(seed_, stream);
    parameters->cpu = operation_.parameters(random, sizes_);
    for (at::Tensor& each : parameters->cpu) {
      each = to_type(each, dtype_);
    }
  }
  for (const at::Tensor& each : parameters->cpu) {
    at::Tensor uploaded;
    if (path_ == Path::graph && device_->path_choice() == PathChoice::layout &&
        operation_.ends_in_linear && each.dim() == 2) {
      // The same numbers in the other order of dimensions: a weight that is not contiguous is what
      // makes stock PyTorch take MPSGraph for linear. Transposed twice, once here and once there.
      at::Tensor transposed;
      {
        const CpuSide cpu_side;
        transposed = each.t().contiguous();
      }
      uploaded = device_->upload(transposed).t();
    } else {
      uploaded = device_->upload(each);
    }
    if (operation_.records_gradient) {
      uploaded = uploaded.detach().requires_grad_();
    }
    parameters->device.push_back(std::move(uploaded));
  }
  return parameters;
}

}  // namespace mpsprobe
