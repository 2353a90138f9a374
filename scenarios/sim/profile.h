#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/sim/operations.h"

namespace mpsprobe::sim {

/// What happens to the thread that wants to encode when every slot is taken.
enum class Beyond : uint8_t {
  null_dereference,
  assertion,
  exception,
  hang,
  wrong_numbers,
  gpu_error,
  gpu_hang,
};

/// One defect of the simulated device (docs/sim.md describes the file form).
struct Defect {
  std::vector<std::string> ops;   ///< operation or kernel names, or "*" alone
  std::vector<EncodePath> paths;  ///< empty: every path that encodes (not "none")
  int slots = 1;                  ///< encodes of one shared object that may overlap
  int hold_us = 0;                ///< how long an encode stays in its slot, microseconds
  Beyond beyond = Beyond::null_dereference;
  std::string text;                ///< of an assertion or exception
  std::string place;               ///< of an assertion that is no rule of metal.h
  double rate = 1;                 ///< probability that a process has the defect
  bool until_initialised = false;  ///< only until the shared object's first encode has completed
  bool once_warm = false;   ///< only where the shared object's first encode was alone to its end
  bool one_object = false;  ///< all its operations and paths share one object: a cache, an encoder
  bool at_exit = false;     ///< only once the process is ending, which then takes hold_us
  std::string env;          ///< "NAME=VALUE": only where the environment says so; empty: always
  int from_encode = 1;      ///< of each thread: its earlier encodes of the shared object are safe

  /// Whether the defect is in the encode of `operation` by `path`.
  bool concerns(const Operation& operation, EncodePath path) const;

  /// Whether the environment of this process lets it be there.
  bool in_this_environment() const;
};

/// Which stream a thread has that did not ask for one.
enum class Streams : uint8_t { shared, per_thread };

struct Profile {
  std::string name;
  std::string description;
  std::string hash;  ///< FNV-1a, 64 bits, of the file's bytes, 16 hexadecimal digits
  Streams streams = Streams::shared;
  std::vector<Defect> defects;
};

/// The profile that `text` holds; `place` names its source in errors. Throws InputError with the
/// path of the key that is wrong: unknown or repeated keys, wrong types, values out of range and
/// names of operations that are never encoded are all errors.
Profile parse_profile(std::string_view text, const std::string& place);

/// Reads a profile file of at most 1 MiB. Throws InputError.
Profile load_profile(const std::string& path);

}  // namespace mpsprobe::sim

template <>
inline constexpr auto mpsprobe::kWordsOf<mpsprobe::sim::Beyond> =
    std::to_array<std::string_view>({"null_dereference", "assertion", "exception", "hang",
                                     "wrong_numbers", "gpu_error", "gpu_hang"});
