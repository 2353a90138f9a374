#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/wire/enum_words.h"

namespace mpsprobe::sim {

/// How an operation reaches the simulated device.
enum class EncodePath : uint8_t { none, blit, nograph, graph };

/// What decides which path an operation takes.
enum class PathRule : uint8_t {
  none,        ///< allocates only
  blit,        ///< a copy or fill by the blit encoder
  nograph,     ///< a kernel of its own
  graph,       ///< a cached graph
  by_layout,   ///< nograph where every tensor is contiguous and no graph is forced, else graph
  by_setting,  ///< nograph where the environment prefers Metal kernels, else graph
};

/// One ATen operation that encodes. While it runs, the operations that LibTorch's CPU code calls
/// inside it are not encoded: on the device they are one piece of work.
struct Operation {
  std::string_view name;  ///< ATen name without "aten::" and without overload
  std::string_view
      kernel;  ///< the shared kernel or graph that it encodes; a profile may name either
  PathRule rule;
};

/// All operations that encode, sorted by name. Static storage. An operation that is not in it
/// (views, composites such as matmul) encodes nothing by itself; what it calls does.
std::span<const Operation> operations();

/// The operation called `aten_name`, with or without "aten::", or nullptr. Any thread.
const Operation* find_operation(std::string_view aten_name);

/// Whether `name` is an operation or a kernel of the table.
bool is_known_name(std::string_view name);

/// What the environment says about paths; read once, when the simulation starts.
struct PathSettings {
  bool force_graph = false;   ///< MPS_FORCE_GRAPH_PATH=1
  bool prefer_metal = false;  ///< PYTORCH_MPS_PREFER_METAL=1

  static PathSettings from_environment();
};

/// The path that `rule` leads to. `all_contiguous`: every tensor among the inputs is.
EncodePath choose_path(PathRule rule, const PathSettings& settings, bool all_contiguous);

}  // namespace mpsprobe::sim

template <>
inline constexpr auto mpsprobe::kWordsOf<mpsprobe::sim::EncodePath> =
    std::to_array<std::string_view>({"none", "blit", "nograph", "graph"});
