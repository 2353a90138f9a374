#include "harness/wire/cell.h"

#include "harness/input/input_error.h"
#include "harness/wire/axis.h"
#include "harness/wire/split.h"
#include "harness/wire/variables.h"

namespace mpsprobe {
namespace {

constexpr size_t kPositional = 3;  // backend/op/path

const char* const kForm =
    "Write backend/op/path/threads=N, for example sim/linear/nograph/threads=3";

// A cell names each variable in a part of its own.
void add_variable(Cell& cell, std::string_view variable) {
  const bool first = parse_variables(cell.env).empty();
  set_axis(cell, *find_axis("env"), (first ? "" : cell.env + "+") + std::string(variable));
}

}  // namespace

std::string to_string(const Cell& cell) {
  std::string text;
  for (size_t i = 0; i < axes().size(); ++i) {
    const Axis& axis = axes()[i];
    const std::string value = axis.read(cell);
    if (i < kPositional) {
      if (i > 0) text += '/';
      text += value;
    } else if (axis.name == "threads" || value != axis.default_value) {
      text += '/';
      text += setting(axis, value, "/");
    }
  }
  return text;
}

Cell parse_cell(std::string_view text) {
  if (text.size() > 1000) throw InputError("cell", "longer than 1000 characters", kForm);
  Cell cell;
  std::vector<bool> given(axes().size());
  size_t position = 0;
  for (const std::string_view part : split(text, '/')) {
    if (position < kPositional) {
      set_axis(cell, axes()[position], part);
      given[position++] = true;
      continue;
    }
    ++position;
    const size_t equals = part.find('=');
    if (const std::string_view variable = variable_of(part); !variable.empty()) {
      add_variable(cell, variable);
      continue;
    }
    if (equals == std::string_view::npos) {
      throw InputError("cell", "part " + std::to_string(position) + " is not axis=value", kForm);
    }
    const Axis& axis = axis_named(part.substr(0, equals));
    const auto index = static_cast<size_t>(&axis - axes().data());
    if (given[index]) {
      throw InputError("cell", "the axis " + std::string(axis.name) + " is given twice",
                       "Write it once");
    }
    given[index] = true;
    set_axis(cell, axis, part.substr(equals + 1));
  }
  if (position < kPositional) throw InputError("cell", "backend, op and path are needed", kForm);
  return cell;
}

}  // namespace mpsprobe
