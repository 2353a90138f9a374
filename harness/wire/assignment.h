#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpsprobe {

/// Descriptor of a fork server: a socket that asks for a process, and says which it is.
constexpr int kControlFd = 3;

/// What a process of a trial is to do: the arguments of `run`, and for one that was started before
/// its cell was known, a line on its gate.
struct Assignment {
  std::string cell;   ///< in its canonical form
  int process = 0;    ///< index within the trial
  int iteration = 0;  ///< with lifetime=fresh: which one it runs; otherwise 0
  uint64_t seed = 1;  ///< of the inputs

  friend bool operator==(const Assignment&, const Assignment&) = default;
};

/// One JSON object, ended by a newline.
std::string to_line(const Assignment& assignment);

/// Of a line, with or without its newline. Nothing where it is no assignment.
std::optional<Assignment> parse_assignment(std::string_view line);

}  // namespace mpsprobe
