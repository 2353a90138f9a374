#include "scenarios/stand_in/profile_log.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

namespace mpsprobe::stand_in {
namespace {

constexpr long kOperationInfo = 1;  // LogOptions::OPERATION_INFO of ATen/mps/MPSProfiler.h

bool asked_for() {
  static const bool asked = [] {
    const char* const options = std::getenv("PYTORCH_MPS_LOG_PROFILE_INFO");
    return options != nullptr && (std::strtol(options, nullptr, 0) & kOperationInfo) != 0;
  }();
  return asked;
}

/// As OperationInfo::buildKernelString has it.
std::string key_of(const sim::Operation& operation, c10::ArrayRef<const c10::IValue> inputs) {
  std::ostringstream key;
  key << (operation.kernel == "linear" ? "mps_linear" : operation.kernel);
  for (const c10::IValue& value : inputs) {
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const at::Tensor& tensor = value.toTensor();
    key << ':' << c10::DeviceTypeName(tensor.device().type()) << ':' << tensor.scalar_type()
        << tensor.sizes();
  }
  return key.str();
}

struct Logged {
  uint64_t id = 0;
  uint64_t runs = 0;
};

}  // namespace

void log_operation(const sim::Operation& operation, sim::EncodePath path,
                   c10::ArrayRef<const c10::IValue> inputs) {
  const bool graph = path == sim::EncodePath::graph;
  if (!asked_for() || (!graph && path != sim::EncodePath::nograph)) return;
  static std::mutex mutex;
  static std::map<std::string, Logged> graphs;
  static std::map<std::string, Logged> kernels;
  const std::string key = key_of(operation, inputs);
  const std::lock_guard lock(mutex);
  std::map<std::string, Logged>& all = graph ? graphs : kernels;
  Logged& logged = all.try_emplace(key, Logged{all.size() + 1, 0}).first->second;
  const std::string line = "aten::" + key + " (id=" + (graph ? "G" : "K") +
                           std::to_string(logged.id) + ", run=" + std::to_string(++logged.runs) +
                           ")\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace mpsprobe::stand_in
