#include "reports/analysis/common_axes.h"

#include <algorithm>

#include "harness/wire/axis.h"

namespace mpsprobe {

std::vector<std::string_view> common_axes(const Analysis& analysis) {
  std::vector<std::string_view> common;
  if (analysis.cells.empty()) return common;
  for (const Axis& axis : axes()) {
    const std::string first = axis.read(analysis.cells.front().cell);
    const bool same =
        std::all_of(analysis.cells.begin(), analysis.cells.end(),
                    [&](const CellSummary& cell) { return axis.read(cell.cell) == first; });
    if (same && axis.name != "op" && axis.name != "path") common.push_back(axis.name);
  }
  return common;
}

std::string common_in_words(const Analysis& analysis) {
  std::string text;
  for (const std::string_view name : common_axes(analysis)) {
    const Axis& axis = *find_axis(name);
    const std::string value = axis.read(analysis.cells.front().cell);
    if (value == axis.default_value && name != "backend") continue;
    if (name == "threads" || name == "processes") continue;
    if (!text.empty()) text += ", ";
    text += name == "backend" ? "backend " + value : setting(axis, value, ", ");
  }
  return text;
}

}  // namespace mpsprobe
