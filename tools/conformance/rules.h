#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/conformance/subject.h"

namespace mpsprobe {

/// One thing that docs/protocol.md asks of a worker, and how to see whether a worker does it.
struct Rule {
  std::string_view name;     ///< of the operation "conformance.NAME"
  std::string_view summary;  ///< what the worker must do, one line
  /// What the worker does instead, in words; empty where it keeps the rule. Throws NotSeen.
  std::string (*broken)(const Subject& subject);
};

std::span<const Rule> rules_of_life();     ///< from its start to its end
std::span<const Rule> rules_of_threads();  ///< what the axes say
std::span<const Rule> rules_of_numbers();  ///< what it computes, however it was started

}  // namespace mpsprobe
