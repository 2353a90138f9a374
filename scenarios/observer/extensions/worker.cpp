// A worker of mpsprobe for an extension: each operation demo::NAME in the threads of a cell, its
// numbers compared with the CPU's. `mpsprobe new worker` makes a project to begin with;
// mpsprobe/worker.h says what else there is.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <mpsprobe/worker.h>

#include <optional>
#include <string>

namespace {

std::optional<c10::TypedOperatorHandle<at::Tensor(const at::Tensor&)>> operation;

struct Lane {
  at::Tensor input;
  at::Tensor expected;
  mpsprobe_checked found = {0, 0, -1};
};

// Tells of an exception, whatever was done.
template <typename Work>
mpsprobe_status guarded(const Work& work) {
  try {
    work();
    return MPSPROBE_OK;
  } catch (const std::exception& problem) {
    mpsprobe_explain(problem.what());
    return MPSPROBE_EXCEPTION;
  }
}

const char* describe(void*) {
  static const std::string text = [] {
    std::string operations;
    for (const char* name : {"second_encoder", "command_buffer", "off_queue", "borrowed_buffer",
                             "own_encoder", "torchs_encoder"}) {
      operations +=
          std::string(operations.empty() ? "" : ", ") + R"({"name": ")" + name +
          R"(", "summary": "an extension's encoder", "source": "an extension", "paths": ["default"],
                    "has_parameters": false, "dtypes": ["default"], "shape": "default", "dimensions": ""})";
    }
    return R"({"mpsprobe_worker": 2, "version": "1", "known_good": "own_encoder", "simulated": true,
      "backends": [{"name": "mps", "available": true, "reason": "", "device": "PyTorch's own MPS code over a simulated Metal"}],
      "operations": [)" +
           operations + "]}";
  }();
  return text.c_str();
}

const char* provenance(void*, const char*) {
  return R"({"device": "PyTorch's own MPS code over a simulated Metal", "simulated": true})";
}

mpsprobe_status make_workload(void*, const mpsprobe_cell* cell, uint64_t, void** workload) {
  const auto found = c10::Dispatcher::singleton().findSchema(
      {std::string("demo::") + mpsprobe_cell_value(cell, "op"), ""});
  if (!found) {
    mpsprobe_explain("there is no such operation");
    return MPSPROBE_UNSUPPORTED;
  }
  operation = found->typed<at::Tensor(const at::Tensor&)>();
  *workload = &operation;
  return MPSPROBE_OK;
}

// PyTorch's first calls, from one thread.
mpsprobe_status touch_device(void*) {
  return guarded([] { at::tanh(at::ones({4}).to(at::Device(at::kMPS, 0))).cpu(); });
}

mpsprobe_status make_lane(void*, int32_t, void** made) {
  return guarded([&] {
    const at::Tensor numbers = at::linspace(-2, 2, 64);
    *made = new Lane{numbers.to(at::Device(at::kMPS, 0)), at::tanh(numbers)};
  });
}

mpsprobe_status launch(void* made, int32_t iteration) {
  auto* const lane = static_cast<Lane*>(made);
  return guarded([&] {
    const at::Tensor result = operation->call(lane->input).cpu();
    lane->found.checked++;
    if (lane->found.wrong_iteration < 0 && !at::allclose(result, lane->expected, 1e-5, 1e-6)) {
      lane->found.wrong_iteration = iteration;
    }
  });
}

mpsprobe_status check(void* made, mpsprobe_checked* checked) {
  *checked = static_cast<Lane*>(made)->found;
  if (checked->wrong_iteration >= 0) mpsprobe_explain("not the CPU's numbers");
  return MPSPROBE_OK;
}

void free_lane(void* made) {
  delete static_cast<Lane*>(made);
}

}  // namespace

int main(int argc, char** argv) {
  mpsprobe_worker worker = {};
  worker.abi = MPSPROBE_WORKER_ABI;
  worker.describe = describe;
  worker.provenance = provenance;
  worker.make_workload = make_workload;
  worker.touch_device = touch_device;
  worker.make_lane = make_lane;
  worker.launch = launch;
  worker.check = check;
  worker.free_lane = free_lane;
  return mpsprobe_worker_main(argc, argv, &worker);
}
