#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/wire/backend.h"

namespace mpsprobe {

// Which axes have an effect, and where: what this project's own workers say of themselves
// (docs/protocol.md), so that a cell is refused whose axis nobody reads. An axis stands in one of
// these lists or in none, and then no cell may be off its default. backends_table_test holds them
// against the sources.

/// Axes that the runner sees to, or that an operation's entry tells of: which backend, operation
/// and path, how many processes, a process for each iteration, variables, Metal's validation.
std::span<const std::string_view> runner_axes();

/// Axes that the loop of our workers and its threads honour, for every operation; `sanitizer` among
/// them in a process that ThreadSanitizer watches.
std::span<const std::string_view> loop_axes();

/// Whether ThreadSanitizer's runtime is in this process.
bool under_thread_sanitizer();

/// Axes that the lanes of a backend honour beside those, in operations that are no self-tests.
std::vector<std::string_view> lane_axes(Backend backend);

/// What a worker of ours says of a backend: loop_axes() and lane_axes().
std::vector<std::string_view> honoured_axes(Backend backend);

}  // namespace mpsprobe
