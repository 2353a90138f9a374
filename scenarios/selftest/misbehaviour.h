#pragma once

#include <span>
#include <string_view>

#include "harness/wire/enum_words.h"

namespace mpsprobe {

/// Where in the life of a worker a misbehaviour happens.
enum class Stage : unsigned char { make, touch, launch, every_launch, check, teardown };
template <>
inline constexpr auto kWordsOf<Stage> = std::to_array<std::string_view>({"make", "touch", "launch",
                                                                         "every_launch", "check",
                                                                         "teardown"});

/// One way to misbehave on purpose: the known truth against which the runner is measured.
struct Misbehaviour {
  std::string_view name;  ///< operation "selftest." + name
  std::string_view summary;
  Stage stage = Stage::launch;
  void (*act)() = nullptr;  ///< for Stage::check: nullptr, the check itself reports a wrong result
  /// Where set, instead of `act`: every thread of the cell takes part, each with its index and how
  /// many there are.
  void (*act_together)(int thread, int threads) = nullptr;
};

/// All of them; the matrix `selftest` states what the runner must make of each.
std::span<const Misbehaviour> misbehaviours();

}  // namespace mpsprobe
