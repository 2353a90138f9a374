#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/matrix/expand.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

bool lists(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool is_cuda_graph(const Cell& cell) {
  return cell.backend == Backend::cuda && cell.path == Path::graph;
}

/// One combination that makes no sense. Rules are about meaning only; what a machine cannot do is
/// found out there, and is `unsupported`.
struct Rule {
  bool (*holds)(const Cell&, const OperationInfo&);
  const char* reason;
};

constexpr Rule kRules[] = {
    {[](const Cell& cell, const OperationInfo& operation) {
       return !operation.backends.empty() && !lists(operation.backends, name_of(cell.backend));
     },
     "the operation is for other backends"},
    {[](const Cell& cell, const OperationInfo& operation) {
       return cell.backend != Backend::cuda && !lists(operation.paths, name_of(cell.path));
     },
     "the operation has no such path to choose"},
    {[](const Cell& cell, const OperationInfo& operation) {
       return is_cuda_graph(cell) && !operation.capturable;
     },
     "the operation cannot be captured into a CUDA graph"},
    {[](const Cell& cell, const OperationInfo&) {
       return is_cuda_graph(cell) && cell.threads > 1 && cell.stream != StreamUse::per_thread &&
              cell.start != Start::sequential;
     },
     "a stream is captured by one thread at a time: use stream=per-thread"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.capture != CaptureMode::global && !is_cuda_graph(cell);
     },
     "only CUDA graphs have a capture mode"},
    {[](const Cell& cell, const OperationInfo& operation) {
       return cell.dtype != "default" && !lists(operation.dtypes, cell.dtype);
     },
     "the operation does not take this dtype"},
    {[](const Cell& cell, const OperationInfo& operation) {
       return cell.model == ModelSharing::per_thread && !operation.has_parameters;
     },
     "the operation has no weights that threads could share or not"},
    {[](const Cell& cell, const OperationInfo&) {
       return (cell.queue != QueueUse::per_thread || cell.kernel != KernelUse::per_thread) &&
              cell.backend != Backend::metal;
     },
     "queues and kernels are chosen by the backend metal alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return (cell.queue != QueueUse::per_thread || cell.kernel != KernelUse::per_thread) &&
              cell.threads == 1;
     },
     "one thread has nobody to share a queue or a kernel with"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.backend == Backend::metal && cell.dtype != "default" && cell.dtype != "float32";
     },
     "the backend metal has float32 alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.stream != StreamUse::automatic && cell.backend == Backend::metal;
     },
     "streams are LibTorch's: use queue=shared or queue=per-thread"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.profile != find_axis("profile")->default_value && cell.backend != Backend::sim &&
              cell.backend != Backend::metal;
     },
     "a profile is of the simulated device alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.stream == StreamUse::per_thread && cell.backend == Backend::cpu;
     },
     "the CPU has no streams"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.validation != Validation::none && !is_apple_gpu(cell.backend);
     },
     "only Metal has validation layers"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.start != Start::barrier && cell.threads == 1;
     },
     "one thread can start in one way only"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.init == Init::threads && cell.warmup == Warmup::main;
     },
     "a warm-up on the main thread touches the device there first"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.sync == Sync::end && cell.iterations == 1;
     },
     "with one iteration, each and end are the same"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.lifetime == Lifetime::fresh && cell.iterations == 1;
     },
     "with one iteration, every lifetime is the same"},
};

}  // namespace

std::optional<std::string> contradiction(const Cell& cell, const OperationInfo& operation) {
  const auto rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& candidate) {
    return candidate.holds(cell, operation);
  });
  if (rule == std::end(kRules)) return std::nullopt;
  return rule->reason;
}

}  // namespace mpsprobe
