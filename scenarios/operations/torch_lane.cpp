#include "scenarios/operations/torch_lane.h"

#include <ATen/Parallel.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <utility>

#include "scenarios/operations/compare.h"
#include "scenarios/operations/cpu_side.h"
#include "scenarios/operations/torch_errors.h"

namespace mpsprobe {
namespace {

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

}  // namespace

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

}  // namespace mpsprobe
