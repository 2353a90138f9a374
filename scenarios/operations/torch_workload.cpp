#include "scenarios/operations/torch_workload.h"

#include <ATen/Parallel.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/wire/axis.h"
#include "scenarios/comparison/kept_results.h"
#include "scenarios/operations/compare.h"
#include "scenarios/operations/cpu_side.h"
#include "scenarios/operations/sizes.h"
#include "scenarios/operations/torch_errors.h"

namespace mpsprobe {
namespace {

/// What one thread launches and what came of it. Keeps results, and so keeps their memory from
/// being used again; intermediate tensors of a launch are freed as they would be without a harness.
class TorchLane : public Lane {
 public:
  /// Makes the thread's inputs and takes its parameters; waits until the device has them.
  TorchLane(TorchWorkload& workload, int thread, uint64_t seed);

  std::string operation() const override;
  void enter() override;
  void launch(int iteration) override;
  void synchronise() override;
  CheckResult check() override;

 private:
  at::TensorOptions options() const;
  Tensors run(const Tensors& inputs, const Tensors& parameters, at::TensorOptions options) const;
  Tensors reference() const;
  /// Of what was read back, into `result`.
  void check_read_back(const Tensors& expected, CheckResult& result) const;
  std::string difference_in(const Tensors& results, const Tensors& expected) const;

  TorchWorkload& workload_;
  const int thread_;
  const Sizes sizes_;
  Tensors cpu_inputs_;
  Tensors inputs_;
  std::shared_ptr<const TorchWorkload::Parameters> parameters_;
  at::Tensor last_;  ///< of the last launch: what wait=item reads
  int last_iteration_ = -1;
  /// A number that was read back, and the iteration whose it is.
  struct ReadBack {
    int iteration = 0;
    at::Scalar number;
  };
  std::vector<ReadBack> read_back_;
  KeptResults<Tensors> kept_;
};

// Of one thread: beyond, numbers are read and not compared.
constexpr size_t kMostReadBack = 4096;

uint64_t inputs_of(int thread) {
  return 2 + 2 * static_cast<uint64_t>(thread);
}

int64_t bytes_of(const Tensors& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& each : tensors) {
    bytes += static_cast<int64_t>(each.nbytes());
  }
  return bytes;
}

Tensors widened(const Tensors& tensors) {
  Tensors wide;
  for (const at::Tensor& each : tensors) {
    wide.push_back(each.to(reference_type(each.scalar_type())));
  }
  return wide;
}

TorchLane::TorchLane(TorchWorkload& workload, int thread, uint64_t seed)
    : workload_(workload), thread_(thread), sizes_(workload.sizes_for(thread)) {
  if (workload_.operation().inputs != nullptr) {
    const CpuSide cpu_side;
    Random random(seed, inputs_of(thread));
    cpu_inputs_ = workload_.operation().inputs(random, sizes_);
    for (at::Tensor& each : cpu_inputs_) {
      each = to_type(each, workload_.dtype());
    }
  }
  for (const at::Tensor& each : cpu_inputs_) {
    inputs_.push_back(workload_.device().upload(each));
  }
  parameters_ = workload_.parameters_for(thread);
}

std::string TorchLane::operation() const {
  const Operation& operation = workload_.operation();
  return std::string(operation.variant_name != nullptr ? operation.variant_name(thread_)
                                                       : operation.name);
}

void TorchLane::enter() {
  // Per thread, since OpenMP's setting is: without it a launch on the CPU starts a team of threads.
  at::init_num_threads();
  with_worker_errors([&] {
    workload_.device().enter_thread(workload_.stream());
    if (workload_.captures()) {
      // What is to be captured must have run before, on the same stream: the first time, libraries
      // make handles and workspaces and load kernels, which no capture permits.
      run(inputs_, parameters_->device, options());
      workload_.device().synchronise();
    }
  });
}

void TorchLane::launch(int iteration) {
  with_worker_errors([&] {
    Tensors results =
        workload_.device().launch([&] { return run(inputs_, parameters_->device, options()); });
    for (at::Tensor& each : results) {
      if (each.requires_grad()) {
        // Only the numbers are kept: the recorded graph goes where a script would drop it.
        each = each.detach();
      }
    }
    last_ = results.empty() ? at::Tensor() : results.back();
    last_iteration_ = iteration;
    const int64_t bytes = bytes_of(results);
    kept_.add(iteration, std::move(results), bytes, workload_.kept_budget());
  });
}

void TorchLane::synchronise() {
  with_worker_errors([&] {
    if (workload_.wait() == WaitFor::item && last_.defined() && last_.numel() > 0) {
      const at::Scalar number = last_.flatten()[0].item();
      if (read_back_.size() < kMostReadBack) read_back_.push_back({last_iteration_, number});
    } else {
      workload_.device().synchronise();
    }
  });
}

CheckResult TorchLane::check() {
  return with_worker_errors([&] {
    const CpuSide cpu_side;
    CheckResult result{.unchecked = kept_.dropped()};
    // The thread has ended and waited for nothing: its results may not be there yet, and a copy by
    // this thread would wait for this thread's stream alone.
    if (workload_.sync() == Sync::never) workload_.device().settle();
    const Tensors expected = kept_.all().empty() ? Tensors{} : reference();
    for (const auto& kept : kept_.all()) {
      Tensors on_cpu;
      for (const at::Tensor& each : kept.results) {
        on_cpu.push_back(each.to(at::kCPU));
      }
      ++result.checked;
      std::string difference = difference_in(on_cpu, expected);
      if (!difference.empty() && result.wrong_iteration < 0) {
        result.wrong_iteration = kept.iteration;
        result.difference = std::move(difference);
      }
    }
    check_read_back(expected, result);
    return result;
  });
}

// A number may have come too early, from memory that is right by now.
void TorchLane::check_read_back(const Tensors& expected, CheckResult& result) const {
  const Operation& operation = workload_.operation();
  if (expected.empty() || operation.verify != Verify::compare) return;
  const at::Tensor right = expected.back().flatten().slice(0, 0, 1).reshape({});
  const int64_t terms = operation.terms == nullptr ? 1 : operation.terms(sizes_);
  for (const ReadBack& read : read_back_) {
    if (result.wrong_iteration >= 0) return;
    const at::Tensor number = at::scalar_tensor(read.number, at::dtype(last_.scalar_type()));
    const std::string found = difference(number, right, operation.rounding, terms);
    if (found.empty()) continue;
    result.wrong_iteration = read.iteration;
    result.difference = "read back: " + found;
  }
}

at::TensorOptions TorchLane::options() const {
  return at::TensorOptions().device(workload_.device().torch_device()).dtype(workload_.dtype());
}

Tensors TorchLane::run(const Tensors& inputs, const Tensors& parameters,
                       at::TensorOptions options) const {
  return workload_.operation().run({.sizes = sizes_,
                                    .inputs = inputs,
                                    .parameters = parameters,
                                    .options = options,
                                    .variant = thread_});
}

Tensors TorchLane::reference() const {
  return run(widened(cpu_inputs_), widened(parameters_->cpu),
             at::TensorOptions().device(at::kCPU).dtype(reference_type(workload_.dtype())));
}

std::string TorchLane::difference_in(const Tensors& results, const Tensors& expected) const {
  const Operation& operation = workload_.operation();
  const int64_t terms = operation.terms == nullptr ? 1 : operation.terms(sizes_);
  for (size_t i = 0; i < results.size(); ++i) {
    std::string found;
    const bool sample = operation.verify == Verify::normal ||
                        (operation.verify == Verify::raw && i + 1 < results.size());
    if (operation.verify == Verify::layout || sample) {
      found = difference_of_layout(results[i], expected[i].sizes(), workload_.dtype());
      if (found.empty() && sample) {
        found = difference_from_normal(results[i]);
      }
    } else if (operation.verify == Verify::raw) {
      // Its inputs were random: the product of the very samples that it used is the reference.
      found = difference(results[i], at::relu(at::mm(widened(results)[0], widened(results)[1])),
                         operation.rounding, terms);
    } else {
      found = difference(results[i], expected[i], operation.rounding, terms);
    }
    if (!found.empty()) {
      return results.size() == 1 ? found : fmt::format("result {}: {}", i + 1, found);
    }
  }
  return {};
}

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
