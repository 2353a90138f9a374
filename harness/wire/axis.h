#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/cell.h"

namespace mpsprobe {

enum class AxisKind : uint8_t { choice, count, text };

/// One axis of the matrix: the single place that its name, default, limits and help come from.
/// The command line, the matrix files, a cell's text and the docs all read this table.
struct Axis {
  std::string_view name;
  std::string_view help;
  AxisKind kind = AxisKind::choice;
  std::span<const std::string_view> values;  ///< of a choice, in the order of its enum
  int64_t minimum = 0;                       ///< of a count
  int64_t maximum = 0;                       ///< of a count
  std::string_view form;                     ///< of a text: what it must look like, for people
  std::string_view default_value;
  std::string (*read)(const Cell&) = nullptr;
  void (*write)(Cell&, const Axis&, std::string_view) = nullptr;
};

/// All axes in canonical order; the first three (backend, op, path) are positional in a cell's
/// text. Static storage.
std::span<const Axis> axes();

/// The axis called `name`, or nullptr.
const Axis* find_axis(std::string_view name);

/// The same; throws InputError that names it where there is none, as of a release that has other
/// axes.
const Axis& axis_named(std::string_view name);

/// Sets one axis from text; throws InputError (place = axis name) that says what is allowed.
void set_axis(Cell& cell, const Axis& axis, std::string_view value);

/// "axis=value", as cells and tables say it. Of the axis env, which has a variable or several, one
/// word each with `between` between them: "env.A=0/env.B=unset".
std::string setting(const Axis& axis, std::string_view value, std::string_view between);

/// Values that a person wrote for an axis: a comma-separated list, with ranges ("1,2,3-8") where
/// the axis is a count. In the order written, duplicates dropped. Throws InputError; more than a
/// million values count as a mistake.
std::vector<std::string> parse_axis_values(const Axis& axis, std::string_view text);

}  // namespace mpsprobe
