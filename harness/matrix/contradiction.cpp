#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

// A page of Apple silicon, and the least that a thread of any system starts with.
constexpr int32_t kStackPage = 16384;
constexpr int32_t kLeastStack = 4 * kStackPage;

/// Why a combination makes no sense; nullptr where it does. Rules are about meaning only; what a
/// machine cannot do is found out there, and is `unsupported`.
const char* broken_rule(const Cell& cell, const OperationInfo& operation) {
  const BackendInfo& backend = info_of(cell.backend);
  if (!backend.captures && !lists(operation.paths, name_of(cell.path))) {
    return "the operation has no such path to choose";
  }
  if (captures_graphs(cell) && !operation.capturable) {
    return "the operation cannot be captured into a CUDA graph";
  }
  if (captures_graphs(cell) && cell.threads > 1 && cell.stream != StreamUse::per_thread &&
      cell.start != Start::sequential) {
    return "a stream is captured by one thread at a time: use stream=per-thread";
  }
  if (cell.capture != CaptureMode::global && !captures_graphs(cell)) {
    return "only CUDA graphs have a capture mode";
  }
  if (cell.dtype != "default" && !lists(operation.dtypes, cell.dtype)) {
    return "the operation does not take this dtype";
  }
  if (cell.model == ModelSharing::per_thread && !operation.has_parameters) {
    return "the operation has no weights that threads could share or not";
  }
  if ((cell.queue != QueueUse::per_thread || cell.kernel != KernelUse::per_thread ||
       cell.encode != Encode::stream) &&
      !backend.queues) {
    return "queues, kernels and encoders are chosen by the backend metal alone";
  }
  if ((cell.queue != QueueUse::per_thread || cell.kernel != KernelUse::per_thread) &&
      cell.threads == 1) {
    return "one thread has nobody to share a queue or a kernel with";
  }
  if (backend.only_float32 && cell.dtype != "default" && cell.dtype != "float32") {
    return "the backend has float32 alone";
  }
  if (cell.owner != Owner::thread && !backend.owners) {
    return "who makes a thread's arrays is chosen by the backend mlx alone";
  }
  if (cell.leave != Leave::nothing && !backend.owners) {
    return "streams that a thread clears when it ends are those of the backend mlx alone";
  }
  if (cell.stream == StreamUse::thread_unsafe && !backend.devices) {
    return "only MLX has thread-unsafe streams";
  }
  if (cell.device != DeviceUse::automatic && !backend.devices) {
    return "where a library computes is chosen on the backend mlx alone";
  }
  if (cell.owner == Owner::main && cell.init == Init::threads) {
    return "with init=threads nothing is made on the main thread";
  }
  if (cell.sync == Sync::never && backend.library.empty()) {
    return "the backend metal has command buffers that somebody waits for: use sync=each or "
           "sync=end";
  }
  if (cell.sync == Sync::never && captures_graphs(cell)) {
    return "a graph that is replayed is waited for before it goes: use sync=each or sync=end";
  }
  if (cell.sync == Sync::never && cell.wait != WaitFor::device) {
    return "with sync=never no thread waits, whatever for";
  }
  if ((cell.wait == WaitFor::stream || cell.wait == WaitFor::event) && !backend.own_waits) {
    return "streams and events are waited for on the backend mps alone";
  }
  if (cell.wait == WaitFor::event && cell.stream == StreamUse::per_thread) {
    return "LibTorch's events belong to the default stream";
  }
  if (cell.wait == WaitFor::item && !backend.reads_back) {
    return "to read a result back is to wait for it on the backends mps and cuda alone";
  }
  if (cell.wait == WaitFor::item && captures_graphs(cell)) {
    return "a graph that is replayed is waited for as a whole";
  }
  if (cell.profile != find_axis("profile")->default_value && !backend.profiles) {
    return "a profile is of the simulated device alone";
  }
  if (cell.validation != Validation::none && !backend.apple_gpu) {
    return "only Metal has validation layers";
  }
  if (cell.observe != Observe::none && !backend.apple_gpu) {
    return "the observer watches calls of Metal alone";
  }
  if (cell.start != Start::barrier && cell.threads == 1) {
    return "one thread can start in one way only";
  }
  if (cell.stack != 0 && (cell.stack < kLeastStack || cell.stack % kStackPage != 0)) {
    return "a stack is of 65536 bytes or more, and of whole pages of 16384";
  }
  if (cell.throttle != kMostThreads && cell.throttle >= cell.threads) {
    return "there are no more threads than the throttle lets through";
  }
  if (cell.throttle != kMostThreads && cell.lock != Lock::none) {
    return "a lock lets one launch through at a time, whatever the throttle";
  }
  if (cell.init == Init::threads && cell.warmup == Warmup::main) {
    return "a warm-up on the main thread touches the device there first";
  }
  if (cell.sync == Sync::end && cell.iterations == 1) {
    return "with one iteration, each and end are the same";
  }
  if (cell.every > 1 && (cell.sync != Sync::each || cell.every >= cell.iterations)) {
    return "a thread synchronises every so many launches with sync=each and more iterations than "
           "that";
  }
  if (cell.shapes == Shapes::per_thread && backend.library != "LibTorch") {
    return "a shape of its own for each thread is of LibTorch's operations alone";
  }
  if (cell.shapes == Shapes::per_thread && cell.threads == 1) {
    return "one thread has one shape";
  }
  if (cell.inputs == Inputs::handed && backend.library != "LibTorch") {
    return "inputs are handed from thread to thread in operations of LibTorch alone";
  }
  if ((cell.inputs == Inputs::handed || cell.meet != Meet::none) &&
      (cell.threads == 1 || cell.start == Start::sequential)) {
    return "threads that never run together cannot meet";
  }
  if (cell.inputs == Inputs::handed && (cell.sync != Sync::each || cell.every > 1)) {
    return "what was handed on may go only when nobody uses it any more: use sync=each and every=1";
  }
  if (cell.inputs == Inputs::handed && cell.shapes == Shapes::per_thread) {
    return "a thread cannot work on the inputs of another where each has a shape of its own";
  }
  if (cell.meet == Meet::stage && (cell.lock != Lock::none || cell.throttle != kMostThreads)) {
    return "threads that take turns at launching cannot meet within a launch";
  }
  if (cell.serve != Serve::own &&
      (cell.inputs == Inputs::handed || cell.seconds > 0 || cell.end == End::exit)) {
    return "inputs=handed, seconds and end=exit go by each thread's own iterations: use serve=own";
  }
  if (cell.serve == Serve::pool && (cell.threads == 1 || cell.start == Start::sequential)) {
    return "one thread alone takes every iteration, whoever may";
  }
  if (cell.serve == Serve::queue &&
      (cell.stream != StreamUse::automatic || cell.lock != Lock::none ||
       cell.throttle != kMostThreads || cell.meet != Meet::none || cell.sync != Sync::each ||
       cell.every > 1)) {
    return "with serve=queue one thread launches and waits: streams, locks, throttles, meetings "
           "and ways to wait are for several";
  }
  if (cell.beside == BesideThreads::wait && cell.end == End::exit) {
    return "with end=exit every thread goes on until the process ends: nobody waits beside them";
  }
  if (cell.beside == BesideThreads::wait && cell.queue == QueueUse::per_thread && backend.queues) {
    return "a thread waits beside others for a queue that all share: use queue=shared";
  }
  if ((cell.beside == BesideThreads::wait || cell.serve == Serve::queue) &&
      cell.threads > kMostThreads - 2) {
    return "one more thread needs a place: use threads=254 or fewer";
  }
  if (cell.compare == CompareWith::repeats && backend.library != "LibTorch") {
    return "identical calls are compared with each other in operations of LibTorch alone";
  }
  if (cell.compare == CompareWith::repeats &&
      (cell.iterations * int64_t{cell.churn} == 1 || cell.end == End::exit)) {
    return "with one iteration there is no other call to compare with, and with end=exit nothing "
           "is compared";
  }
  if (cell.aftermath != Aftermath::none && cell.end == End::exit) {
    return "with end=exit the threads go on: nothing comes after them";
  }
  if (cell.child != ForkedChild::none && cell.end == End::exit) {
    return "a child is forked when the threads have ended, and with end=exit they go on";
  }
  if (cell.end == End::exit &&
      (cell.start == Start::sequential || cell.churn > 1 || cell.sync == Sync::never)) {
    return "with end=exit the threads go on until the process ends: each has to wait for its work, "
           "and none can be joined before";
  }
  if (cell.lifetime == Lifetime::fresh && cell.iterations == 1) {
    return "with one iteration, every lifetime is the same";
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> contradiction(const Cell& cell, const OperationInfo& operation) {
  if (!operation.backends.empty() && !lists(operation.backends, name_of(cell.backend))) {
    return fmt::format("the operation is for other backends: {}",
                       fmt::join(operation.backends, ", "));
  }
  if (const char* const reason = broken_rule(cell, operation)) return reason;
  const std::string_view no_streams = info_of(cell.backend).why_no_streams;
  if (cell.stream != StreamUse::automatic && !no_streams.empty()) return std::string(no_streams);
  const std::string axis = unhonoured_axis(cell, operation);
  if (axis.empty()) return std::nullopt;
  if (axis == "sanitizer") {
    return "no build of the worker with ThreadSanitizer lies beside it, under its name with -tsan: "
           "docs/building.md says how to make one";
  }
  return fmt::format(
      "a worker here does not honour the axis {}: it does not name it (docs/protocol.md)", axis);
}

}  // namespace mpsprobe
