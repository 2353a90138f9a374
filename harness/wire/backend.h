#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/wire/split.h"
#include "harness/wire/start_process.h"

namespace mpsprobe {

/// Where the work of a cell runs. The order is that of the table below.
enum class Backend : uint8_t { mps, mlx, metal, cuda, cpu, sim, command };

/// One row of the table of backends: the single place that says what is true of one. A new backend
/// is a row here and a worker that has it.
struct BackendInfo {
  Backend backend = Backend::cpu;
  std::string_view name;      ///< word of the axis `backend`
  std::string_view in_words;  ///< after "on"
  std::string_view
      library;              ///< what is under test, for people: "LibTorch"; empty: the system's own
  std::string_view axes;    ///< that lanes on it read of a cell: names with spaces between
  bool own_worker = false;  ///< its cells are run by another worker than mpsprobe-worker
  bool apple_gpu = false;   ///< on Apple's GPU where there is one, or on what stands in for it
  bool real_device = false;  ///< trials share a device that can be sick
  bool alone = false;        ///< trials at the same time could harm each other
  bool wants_cores = false;  ///< its races need the cores: one trial at a time (usual_jobs.h)
  bool captures = false;     ///< path=graph is a graph that is captured and replayed
  bool own_waits = false;    ///< a thread can wait for its stream or for an event alone
  bool reads_back = false;   ///< to read a number of a result is to wait for it
  bool profile_log = false;  ///< a process of its own shows the path, by LibTorch's profile log
  bool only_float32 = false;
  std::string_view why_no_streams;  ///< empty: stream=per-thread means something
  /// The quickest way to start its processes that was proven equal to exec (start_process_test).
  StartProcess quickest_start = StartProcess::exec;

  bool honours(std::string_view axis) const {
    return std::ranges::count(split(axes, ' '), axis) > 0;
  }
  bool queues() const { return honours("queue"); }
  bool owners() const { return honours("owner"); }
  bool devices() const { return honours("device"); }
  bool profiles() const { return honours("profile"); }
};

namespace backend_table {

#ifdef __APPLE__
inline constexpr bool kOnMac = true;
#else
inline constexpr bool kOnMac = false;
#endif
// On macOS a fork without exec is safe with none of the system's frameworks, and nothing was shown
// of another way than exec on a GPU. Elsewhere mps and metal are simulated.
inline constexpr StartProcess kQuickestOfAll = kOnMac ? StartProcess::exec : StartProcess::fork;

/// All of them, in the order of the enum.
inline constexpr std::array kRows{
    BackendInfo{.backend = Backend::mps,
                .name = "mps",
                .in_words = "MPS",
                .library = "LibTorch",
                .axes = "shape shapes dtype stream model wait profile observe",
                .apple_gpu = true,
                .real_device = true,
                .alone = true,
                .own_waits = true,
                .reads_back = true,
                .profile_log = true,
                .quickest_start = kQuickestOfAll},
    // By exec: forked processes of MLX 0.31.1 failed more often, and their exits less often
    // (docs/commands.md).
    BackendInfo{.backend = Backend::mlx,
                .name = "mlx",
                .in_words = "MLX",
                .library = "MLX",
                .axes = "shape dtype stream model owner device leave",
                .own_worker = true,
                .apple_gpu = true,
                .real_device = kOnMac,  // elsewhere it computes on the processor
                .alone = kOnMac,
                .wants_cores = true,
                .only_float32 = true},
    BackendInfo{.backend = Backend::metal,
                .name = "metal",
                .in_words = "Metal without PyTorch",
                .axes = "shape dtype queue model profile observe",
                .apple_gpu = true,
                .real_device = true,
                .alone = true,
                .only_float32 = true,
                .why_no_streams = "streams are LibTorch's: use queue=shared or queue=per-thread",
                .quickest_start = kQuickestOfAll},
    // NVIDIA's GPUs keep contexts apart: what goes wrong in one process stays there, and only the
    // times of the others change. Nobody promises that of Metal.
    BackendInfo{.backend = Backend::cuda,
                .name = "cuda",
                .in_words = "CUDA",
                .library = "LibTorch",
                .axes = "shape shapes dtype stream capture model wait",
                .real_device = true,
                .captures = true,
                .reads_back = true},
    BackendInfo{.backend = Backend::cpu,
                .name = "cpu",
                .in_words = "the CPU",
                .library = "LibTorch",
                .axes = "shape shapes dtype model",
                .why_no_streams = "the CPU has no streams",
                .quickest_start = kQuickestOfAll},
    BackendInfo{.backend = Backend::sim,
                .name = "sim",
                .in_words = "a simulated Metal device",
                .library = "LibTorch",
                .axes = "shape shapes dtype stream model profile",
                .quickest_start = kQuickestOfAll},
    // Somebody's own command as it is, which chooses its device by itself.
    BackendInfo{.backend = Backend::command,
                .name = "command",
                .in_words = "whatever the command uses",
                .alone = true,
                .wants_cores = true},
};

constexpr bool in_order() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].backend != static_cast<Backend>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "the table has the order of the enum");

}  // namespace backend_table

constexpr const BackendInfo& info_of(Backend backend) {
  return backend_table::kRows[static_cast<size_t>(backend)];
}

/// The word of the axis `backend`.
constexpr std::string_view name_of(Backend backend) {
  return info_of(backend).name;
}

/// The order in which a run takes a backend that nobody named: those that are real. The first that
/// a worker can use.
inline constexpr std::array kDefaultBackends{Backend::mps, Backend::cuda, Backend::mlx};

}  // namespace mpsprobe
