#pragma once

#include <cstdint>
#include <optional>

namespace mpsprobe {

/// How long and how much trials may take, as a journal's header says it and every command that
/// runs trials goes by it. The usual values are those of a run that says nothing.
struct TrialLimits {
  double timeout_seconds = 300;     ///< of a process altogether, whatever it does
  double stall_seconds = 20;        ///< of a process without progress, which make a hang
  double budget_seconds = 0;        ///< after which no trial starts; 0: none
  uint64_t memory_limit_bytes = 0;  ///< that a process may hold; 0: no limit
};

/// The same as somebody asked for it: what was not given is empty.
struct AskedLimits {
  std::optional<double> timeout_seconds;
  std::optional<double> stall_seconds;
  std::optional<double> budget_seconds;
  std::optional<uint64_t> memory_limit_bytes;

  /// These, and what they leave open as `other` has it. Pure.
  AskedLimits or_else(const AskedLimits& other) const {
    const auto either = [](const auto& a, const auto& b) { return a.has_value() ? a : b; };
    return {either(timeout_seconds, other.timeout_seconds),
            either(stall_seconds, other.stall_seconds),
            either(budget_seconds, other.budget_seconds),
            either(memory_limit_bytes, other.memory_limit_bytes)};
  }

  /// These, and what they leave open as usual: of the memory `usual_memory_bytes`. Pure.
  TrialLimits with_usual(uint64_t usual_memory_bytes) const {
    const TrialLimits usual;
    return {timeout_seconds.value_or(usual.timeout_seconds),
            stall_seconds.value_or(usual.stall_seconds),
            budget_seconds.value_or(usual.budget_seconds),
            memory_limit_bytes.value_or(usual_memory_bytes)};
  }
};

/// What a run goes by that is to be like an earlier one with these limits. A budget is of one run
/// alone. Pure.
inline AskedLimits like(const TrialLimits& earlier) {
  AskedLimits asked{earlier.timeout_seconds, earlier.stall_seconds, std::nullopt, std::nullopt};
  if (earlier.memory_limit_bytes > 0) asked.memory_limit_bytes = earlier.memory_limit_bytes;
  return asked;
}

}  // namespace mpsprobe
