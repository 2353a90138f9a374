#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mpsprobe {

/// The library that a process says it has loaded, as its provenance (docs/protocol.md) tells: the
/// one place that knows under which keys that stands. Texts are empty where it does not tell.
struct LibraryUnderTest {
  std::string name;  ///< for people: "LibTorch", "MLX"; empty where there is none
  std::string version;
  std::string git_hash;
  std::string path;
  std::string build_id;               ///< ELF build id or Mach-O UUID
  std::optional<bool> stream_pool;    ///< of LibTorch: MPSStreamPool is there
  std::string interpreter;            ///< that calls it: "cpython 3.11.7"; empty where none does
  std::vector<std::string> packages;  ///< of Python that are loaded: "numpy 2.1.0"
};

/// Never throws, whatever a worker claims.
LibraryUnderTest library_under_test(const nlohmann::json& provenance);

/// The object that it is read from; null where there is none. Lives as long as `provenance`.
const nlohmann::json& library_object(const nlohmann::json& provenance);

/// What tells one build from another, in one line; "" where nothing does.
std::string library_identity(const nlohmann::json& provenance);

/// Which file of somebody's own code (`code` of a provenance: SHA-256, or size and time, by path)
/// is not the same in both, in words: "app.py was changed: it was SHA-256 01ab... and is SHA-256
/// 23cd..."; "" where none is.
std::string changed_code(const nlohmann::json& before, const nlohmann::json& now);

/// "LibTorch 2.15.0", "MLX of unknown version", "MLX 0.32.4 in cpython 3.11.7", "no library". Where
/// it is neither, the packages: "duckdb 1.4.2 in cpython 3.11.7".
std::string in_words(const LibraryUnderTest& library);

}  // namespace mpsprobe
