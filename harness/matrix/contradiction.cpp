#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

#include "harness/matrix/expand.h"

namespace mpsprobe {
namespace {

bool lists(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// What a rule looks at.
struct Asked {
  const Cell& cell;
  const BackendInfo& backend;
  const OperationInfo& operation;
};

using Condition = bool (*)(const Asked&);

const Cell kUsual;

template <auto Member, auto... Values>
constexpr Condition is = [](const Asked& asked) { return ((asked.cell.*Member == Values) || ...); };
template <auto Member, auto Value>
constexpr Condition is_not = [](const Asked& asked) { return asked.cell.*Member != Value; };
template <auto Member>
constexpr Condition is_set =
    [](const Asked& asked) { return asked.cell.*Member != kUsual.*Member; };
template <auto Member>
constexpr Condition lacks = [](const Asked& asked) { return !std::invoke(Member, asked.backend); };
template <auto Member>
constexpr Condition has = [](const Asked& asked) { return std::invoke(Member, asked.backend); };
template <Condition... Each>
constexpr Condition either = [](const Asked& asked) { return (Each(asked) || ...); };

constexpr Condition one_thread = is<&Cell::threads, 1>;
constexpr Condition one_iteration = is<&Cell::iterations, 1>;
constexpr Condition in_turn = is<&Cell::start, Start::sequential, Start::main>;
constexpr Condition until_exit = is<&Cell::end, End::exit>;
constexpr Condition somebody_beside = is_set<&Cell::beside>;
constexpr Condition not_only_waits = is_not<&Cell::beside, BesideThreads::wait>;
constexpr Condition no_whole_pages = [](const Asked& asked) {
  constexpr int32_t kPage = 16384;  // of Apple silicon; the least that any system starts with is 4
  const int32_t bytes = asked.cell.stack;
  return bytes != 0 && (bytes < 4 * kPage || bytes % kPage != 0);
};
constexpr Condition lets_all_through = [](const Asked& asked) {
  return asked.cell.throttle >= asked.cell.threads;
};
constexpr Condition no_libtorch = [](const Asked& asked) {
  return asked.backend.library != "LibTorch";
};
constexpr Condition no_library = [](const Asked& asked) { return asked.backend.library.empty(); };
constexpr Condition captured = [](const Asked& asked) {
  return asked.backend.captures && asked.cell.path == Path::graph;
};
constexpr Condition not_captured = [](const Asked& asked) { return !captured(asked); };
constexpr Condition never_captured = [](const Asked& asked) { return !asked.operation.capturable; };
constexpr Condition path_of_others = [](const Asked& asked) {
  return !lists(asked.operation.paths, name_of(asked.cell.path));
};
constexpr Condition dtype_of_others = [](const Asked& asked) {
  return !lists(asked.operation.dtypes, asked.cell.dtype);
};
constexpr Condition dtype_but_float32 = [](const Asked& asked) {
  return asked.cell.dtype != "default" && asked.cell.dtype != "float32";
};
constexpr Condition no_weights = [](const Asked& asked) { return !asked.operation.has_parameters; };

/// A combination that makes no sense, and why: where all conditions hold.
struct Rule {
  std::array<Condition, 4> all;  // fewer: nullptr
  const char* why;
};

/// The first that holds is said. Rules are about meaning only; what a machine cannot do is found
/// out there, and is `unsupported`.
constexpr Rule kRules[] = {
    {{lacks<&BackendInfo::captures>, path_of_others}, "the operation has no such path to choose"},
    {{captured, never_captured}, "the operation cannot be captured into a CUDA graph"},
    {{captured, is_not<&Cell::threads, 1>, is_not<&Cell::stream, StreamUse::per_thread>,
      is<&Cell::start, Start::barrier, Start::staggered>},
     "a stream is captured by one thread at a time: use stream=per-thread"},
    {{is_set<&Cell::capture>, not_captured}, "only CUDA graphs have a capture mode"},
    {{is_set<&Cell::dtype>, dtype_of_others}, "the operation does not take this dtype"},
    {{is_set<&Cell::model>, no_weights},
     "the operation has no weights that threads could share or not"},
    {{is_set<&Cell::queue>, lacks<&BackendInfo::queues>},
     "queues are chosen by the backend metal alone"},
    {{is_set<&Cell::queue>, one_thread}, "one thread has nobody to share a queue with"},
    {{has<&BackendInfo::only_float32>, dtype_but_float32}, "the backend has float32 alone"},
    {{is_set<&Cell::owner>, lacks<&BackendInfo::owners>},
     "who makes a thread's arrays is chosen by the backend mlx alone"},
    {{is_set<&Cell::leave>, lacks<&BackendInfo::owners>},
     "streams that a thread clears when it ends are those of the backend mlx alone"},
    {{is<&Cell::stream, StreamUse::thread_unsafe>, lacks<&BackendInfo::devices>},
     "only MLX has thread-unsafe streams"},
    {{is_set<&Cell::device>, lacks<&BackendInfo::devices>},
     "where a library computes is chosen on the backend mlx alone"},
    {{is<&Cell::owner, Owner::main>, is<&Cell::init, Init::threads>},
     "with init=threads nothing is made on the main thread"},
    {{is<&Cell::sync, Sync::never>, no_library},
     "the backend metal has command buffers that somebody waits for: use sync=each or sync=end"},
    {{is<&Cell::sync, Sync::never>, captured},
     "a graph that is replayed is waited for before it goes: use sync=each or sync=end"},
    {{is<&Cell::sync, Sync::never>, is_set<&Cell::wait>},
     "with sync=never no thread waits, whatever for"},
    {{is<&Cell::wait, WaitFor::stream, WaitFor::event>, lacks<&BackendInfo::own_waits>},
     "streams and events are waited for on the backend mps alone"},
    {{is<&Cell::wait, WaitFor::event>, is<&Cell::stream, StreamUse::per_thread>},
     "LibTorch's events belong to the default stream"},
    {{is<&Cell::wait, WaitFor::item>, lacks<&BackendInfo::reads_back>},
     "to read a result back is to wait for it on the backends mps and cuda alone"},
    {{is<&Cell::wait, WaitFor::item>, captured},
     "a graph that is replayed is waited for as a whole"},
    {{is_set<&Cell::profile>, lacks<&BackendInfo::profiles>},
     "a profile is of the simulated device alone"},
    {{is_set<&Cell::validation>, lacks<&BackendInfo::apple_gpu>},
     "only Metal has validation layers"},
    {{is_set<&Cell::observe>, lacks<&BackendInfo::apple_gpu>},
     "the observer watches calls of Metal alone"},
    {{is_set<&Cell::start>, is_not<&Cell::start, Start::main>, one_thread},
     "one thread can start in one way only"},
    {{is<&Cell::start, Start::main>, is_set<&Cell::stack>},
     "the main thread's stack is the system's"},
    {{no_whole_pages}, "a stack is of 65536 bytes or more, and of whole pages of 16384"},
    {{is_set<&Cell::throttle>, lets_all_through},
     "there are no more threads than the throttle lets through"},
    {{is_set<&Cell::throttle>, is_set<&Cell::lock>},
     "a lock lets one launch through at a time, whatever the throttle"},
    {{is<&Cell::init, Init::threads>, is_set<&Cell::warmup>},
     "a warm-up on the main thread touches the device there first"},
    {{is<&Cell::sync, Sync::end>, one_iteration}, "with one iteration, each and end are the same"},
    {{is_set<&Cell::shapes>, no_libtorch},
     "a shape of its own for each thread is of LibTorch's operations alone"},
    {{is_set<&Cell::shapes>, one_thread}, "one thread has one shape"},
    {{is_set<&Cell::meet>, either<one_thread, in_turn>},
     "threads that never run together cannot meet"},
    {{is<&Cell::meet, Meet::stage>, either<is_set<&Cell::lock>, is_set<&Cell::throttle>>},
     "threads that take turns at launching cannot meet within a launch"},
    {{somebody_beside, not_only_waits, lacks<&BackendInfo::own_waits>},
     "what torch.mps has is called beside others on the backend mps alone: use beside=wait"},
    {{somebody_beside, until_exit},
     "with end=exit every thread goes on until the process ends: nobody waits beside them"},
    {{somebody_beside, has<&BackendInfo::queues>, is<&Cell::queue, QueueUse::per_thread>},
     "a thread waits beside others for a queue that all share: use queue=shared"},
    {{somebody_beside, is<&Cell::threads, kMostThreads>},
     "one more thread needs a place: use threads=255 or fewer"},
    {{until_exit, either<in_turn, is_set<&Cell::churn>, is<&Cell::sync, Sync::never>>},
     "with end=exit the threads go on until the process ends: each has to wait for its work, and "
     "none can be joined before"},
    {{is_set<&Cell::lifetime>, one_iteration}, "with one iteration, every lifetime is the same"},
};

const char* broken_rule(const Asked& asked) {
  for (const Rule& rule : kRules) {
    const auto holds = [&asked](Condition each) { return each == nullptr || each(asked); };
    if (std::all_of(rule.all.begin(), rule.all.end(), holds)) return rule.why;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> contradiction(const Cell& cell, const OperationInfo& operation) {
  if (!operation.backends.empty() && !lists(operation.backends, name_of(cell.backend))) {
    return fmt::format("the operation is for other backends: {}",
                       fmt::join(operation.backends, ", "));
  }
  const BackendInfo& backend = info_of(cell.backend);
  if (const char* const reason = broken_rule({cell, backend, operation})) return reason;
  const std::string_view no_streams = backend.why_no_streams;
  if (cell.stream != StreamUse::automatic && !no_streams.empty()) return std::string(no_streams);
  const std::string axis = unhonoured_axis(cell, operation);
  if (axis.empty()) return std::nullopt;
  if (axis == "sanitizer") {
    return "no build of the worker with ThreadSanitizer lies beside it, under its name with -tsan: "
           "docs/building.md says how to make one";
  }
  if (axis == "threads" && cell.backend == Backend::command) {
    return "the command does not say where the number of threads belongs: write {threads} in it";
  }
  return fmt::format(
      "a worker here does not honour the axis {}: it does not name it (docs/protocol.md)", axis);
}

}  // namespace mpsprobe
