#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "harness/matrix/expand.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

bool lists(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool captures_graphs(const Cell& cell) {
  return info_of(cell.backend).captures && cell.path == Path::graph;
}

/// One combination that makes no sense. Rules are about meaning only; what a machine cannot do is
/// found out there, and is `unsupported`.
struct Rule {
  bool (*holds)(const Cell&, const OperationInfo&);
  const char* reason;
};

// A page of Apple silicon, and the least that a thread of any system starts with.
constexpr int32_t kStackPage = 16384;
constexpr int32_t kLeastStack = 4 * kStackPage;

constexpr Rule kRules[] = {
    {[](const Cell& cell, const OperationInfo& operation) {
       return !info_of(cell.backend).captures && !lists(operation.paths, name_of(cell.path));
     },
     "the operation has no such path to choose"},
    {[](const Cell& cell, const OperationInfo& operation) {
       return captures_graphs(cell) && !operation.capturable;
     },
     "the operation cannot be captured into a CUDA graph"},
    {[](const Cell& cell, const OperationInfo&) {
       return captures_graphs(cell) && cell.threads > 1 && cell.stream != StreamUse::per_thread &&
              cell.start != Start::sequential;
     },
     "a stream is captured by one thread at a time: use stream=per-thread"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.capture != CaptureMode::global && !captures_graphs(cell);
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
       return (cell.queue != QueueUse::per_thread || cell.kernel != KernelUse::per_thread ||
               cell.encode != Encode::stream) &&
              !info_of(cell.backend).queues;
     },
     "queues, kernels and encoders are chosen by the backend metal alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return (cell.queue != QueueUse::per_thread || cell.kernel != KernelUse::per_thread) &&
              cell.threads == 1;
     },
     "one thread has nobody to share a queue or a kernel with"},
    {[](const Cell& cell, const OperationInfo&) {
       return info_of(cell.backend).only_float32 && cell.dtype != "default" &&
              cell.dtype != "float32";
     },
     "the backend has float32 alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.owner != Owner::thread && !info_of(cell.backend).owners;
     },
     "who makes a thread's arrays is chosen by the backend mlx alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.leave != Leave::nothing && !info_of(cell.backend).owners;
     },
     "streams that a thread clears when it ends are those of the backend mlx alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.stream == StreamUse::thread_unsafe && !info_of(cell.backend).devices;
     },
     "only MLX has thread-unsafe streams"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.device != DeviceUse::automatic && !info_of(cell.backend).devices;
     },
     "where a library computes is chosen of the backend mlx alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.owner == Owner::main && cell.init == Init::threads;
     },
     "with init=threads nothing is made on the main thread"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.sync == Sync::never && info_of(cell.backend).library.empty();
     },
     "the backend metal has command buffers that somebody waits for: use sync=each or sync=end"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.sync == Sync::never && captures_graphs(cell);
     },
     "a graph that is replayed is waited for before it goes: use sync=each or sync=end"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.sync == Sync::never && cell.wait != WaitFor::device;
     },
     "with sync=never no thread waits, whatever for"},
    {[](const Cell& cell, const OperationInfo&) {
       return (cell.wait == WaitFor::stream || cell.wait == WaitFor::event) &&
              !info_of(cell.backend).own_waits;
     },
     "streams and events are waited for on the backend mps alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.wait == WaitFor::event && cell.stream == StreamUse::per_thread;
     },
     "LibTorch's events belong to the default stream"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.wait == WaitFor::item && !info_of(cell.backend).reads_back;
     },
     "to read a result back is to wait for it on the backends mps and cuda alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.wait == WaitFor::item && captures_graphs(cell);
     },
     "a graph that is replayed is waited for as a whole"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.profile != find_axis("profile")->default_value &&
              !info_of(cell.backend).profiles;
     },
     "a profile is of the simulated device alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.validation != Validation::none && !info_of(cell.backend).apple_gpu;
     },
     "only Metal has validation layers"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.observe != Observe::none && !info_of(cell.backend).apple_gpu;
     },
     "the observer watches calls of Metal alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.start != Start::barrier && cell.threads == 1;
     },
     "one thread can start in one way only"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.stack != 0 && (cell.stack < kLeastStack || cell.stack % kStackPage != 0);
     },
     "a stack is of 65536 bytes or more, and of whole pages of 16384"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.throttle != kMostThreads && cell.throttle >= cell.threads;
     },
     "there are no more threads than the throttle lets through"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.throttle != kMostThreads && cell.lock != Lock::none;
     },
     "a lock lets one launch through at a time, whatever the throttle"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.init == Init::threads && cell.warmup == Warmup::main;
     },
     "a warm-up on the main thread touches the device there first"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.sync == Sync::end && cell.iterations == 1;
     },
     "with one iteration, each and end are the same"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.every > 1 && (cell.sync != Sync::each || cell.every >= cell.iterations);
     },
     "a thread synchronises every so many launches with sync=each and more iterations than that"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.shapes == Shapes::per_thread && info_of(cell.backend).library != "LibTorch";
     },
     "a shape of its own for each thread is of LibTorch's operations alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.shapes == Shapes::per_thread && cell.threads == 1;
     },
     "one thread has one shape"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.inputs == Inputs::handed && info_of(cell.backend).library != "LibTorch";
     },
     "inputs are handed from thread to thread in operations of LibTorch alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return (cell.inputs == Inputs::handed || cell.meet != Meet::none) &&
              (cell.threads == 1 || cell.start == Start::sequential);
     },
     "threads that never run together cannot meet"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.inputs == Inputs::handed && (cell.sync != Sync::each || cell.every > 1);
     },
     "what was handed on may go only when nobody uses it any more: use sync=each and every=1"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.inputs == Inputs::handed && cell.shapes == Shapes::per_thread;
     },
     "a thread cannot work on the inputs of another where each has a shape of its own"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.meet == Meet::stage &&
              (cell.lock != Lock::none || cell.throttle != kMostThreads);
     },
     "threads that take turns at launching cannot meet within a launch"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.serve != Serve::own &&
              (cell.inputs == Inputs::handed || cell.seconds > 0 || cell.end == End::exit);
     },
     "inputs=handed, seconds and end=exit go by each thread's own iterations: use serve=own"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.serve == Serve::pool && (cell.threads == 1 || cell.start == Start::sequential);
     },
     "one thread alone takes every iteration, whoever may"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.serve == Serve::queue &&
              (cell.stream != StreamUse::automatic || cell.lock != Lock::none ||
               cell.throttle != kMostThreads || cell.meet != Meet::none ||
               cell.sync != Sync::each || cell.every > 1);
     },
     "with serve=queue one thread launches and waits: streams, locks, throttles, meetings "
     "and ways to wait are for several"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.beside == BesideThreads::wait && cell.end == End::exit;
     },
     "with end=exit every thread goes on until the process ends: nobody waits beside them"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.beside == BesideThreads::wait && cell.queue == QueueUse::per_thread &&
              info_of(cell.backend).queues;
     },
     "a thread waits beside others for a queue that all share: use queue=shared"},
    {[](const Cell& cell, const OperationInfo&) {
       return (cell.beside == BesideThreads::wait || cell.serve == Serve::queue) &&
              cell.threads > kMostThreads - 2;
     },
     "one more thread needs a place: use threads=254 or fewer"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.compare == CompareWith::repeats && info_of(cell.backend).library != "LibTorch";
     },
     "identical calls are compared with each other in operations of LibTorch alone"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.compare == CompareWith::repeats &&
              (cell.iterations * int64_t{cell.churn} == 1 || cell.end == End::exit);
     },
     "with one iteration there is no other call to compare with, and with end=exit nothing is "
     "compared"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.aftermath != Aftermath::none && cell.end == End::exit;
     },
     "with end=exit the threads go on: nothing comes after them"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.child != ForkedChild::none && cell.end == End::exit;
     },
     "a child is forked when the threads have ended, and with end=exit they go on"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.end == End::exit &&
              (cell.start == Start::sequential || cell.churn > 1 || cell.sync == Sync::never);
     },
     "with end=exit the threads go on until the process ends: each has to wait for its work, and "
     "none can be joined before"},
    {[](const Cell& cell, const OperationInfo&) {
       return cell.lifetime == Lifetime::fresh && cell.iterations == 1;
     },
     "with one iteration, every lifetime is the same"},
};

}  // namespace

std::optional<std::string> contradiction(const Cell& cell, const OperationInfo& operation) {
  if (!operation.backends.empty() && !lists(operation.backends, name_of(cell.backend))) {
    return fmt::format("the operation is for other backends: {}",
                       fmt::join(operation.backends, ", "));
  }
  const auto rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& candidate) {
    return candidate.holds(cell, operation);
  });
  if (rule != std::end(kRules)) return rule->reason;
  const std::string_view no_streams = info_of(cell.backend).why_no_streams;
  if (cell.stream != StreamUse::automatic && !no_streams.empty()) return std::string(no_streams);
  const std::string axis = unhonoured_axis(cell, operation);
  if (axis.empty()) return std::nullopt;
  return fmt::format(
      "a worker here does not honour the axis {}: it does not name it (docs/protocol.md)", axis);
}

}  // namespace mpsprobe
