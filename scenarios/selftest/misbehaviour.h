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

/// One way to misbehave on purpose: the known truth against which the runner is measured. Each does
/// the real thing; none imitates a signal by raising it, where the machine has a way.
struct Misbehaviour {
  std::string_view name;  ///< operation "selftest." + name
  std::string_view summary;
  void (*act)() = nullptr;  ///< for Stage::check: nullptr, the check itself reports a wrong result
  Stage stage = Stage::launch;
  /// Where set, instead of `act`: every thread of the cell takes part, each with its index and how
  /// many there are.
  void (*act_together)(int thread, int threads) = nullptr;
  std::string_view printed =
      {};  ///< what it writes to standard error and then aborts, as a library

  /// Does it, on the calling thread.
  void happen(int thread, int threads) const;
};

/// All of them; the matrix `selftest` states what the runner must make of each.
std::span<const Misbehaviour> misbehaviours();

// Parts of it, each in the file that does it.
namespace faults {
std::span<const Misbehaviour> faulting();  ///< ways to die
std::span<const Misbehaviour> hanging();   ///< and to stop
void null_dereference();
}  // namespace faults
namespace noise {
/// Ways to confuse whoever listens: floods, garbage, texts that look like something else, and
/// processes that stay behind.
std::span<const Misbehaviour> noisy();
}  // namespace noise

}  // namespace mpsprobe

namespace planted {
std::span<const mpsprobe::Misbehaviour> racing();  ///< what threads do to the same objects
}  // namespace planted
