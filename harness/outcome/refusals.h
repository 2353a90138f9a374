#pragma once

#include <span>
#include <string_view>

namespace mpsprobe {

/// A rule of a library that it keeps by an exception: it says that it will not do this, and does
/// not. Told from a failure by the library's own words.
struct Refusal {
  std::string_view library;   ///< as it names itself
  std::string_view since;     ///< the first release that has the rule
  std::string_view first;     ///< literal texts of the message, in this order
  std::string_view then;      ///< may be empty
  std::string_view in_words;  ///< what it refuses: "arrays and streams of another thread"
  std::string_view source;    ///< where the rule is stated
};

/// The table. What is in it is a rule about threads that the library documents or states itself as
/// one. What is not in it, and why:
/// - LibTorch's "not supported on MPS", "not implemented for", "needs macOS ...": said of the
///   device, the type or the build, with one thread as with many. They are `unsupported`: the cell
///   asks what this device does not have, and threads have no part in it (signature/rules).
/// - CUDA's "operation not permitted when stream is capturing", "operation would make the legacy
///   stream depend on a capturing blocking stream": thrown at a call that is right by itself,
///   because another thread captures at the time, or the other way round. Whether that happens is
///   what the cell asks: a failure.
/// - CUDA's "operation failed due to a previous error during capture": the work is lost: a failure.
/// - LibTorch's "Captures must end on the same stream they began on" and its like: internal checks
///   that no program of one thread can break by what it writes here: a failure.
std::span<const Refusal> refusals();

/// The rule that an exception's message tells of; nullptr where it tells of none. Pure.
const Refusal* refusal_in(std::string_view message);

}  // namespace mpsprobe
