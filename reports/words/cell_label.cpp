#include "reports/words/cell_label.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/wire/axis.h"

namespace mpsprobe {

std::string words(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string cell_label(const Cell& cell, const std::vector<std::string_view>& without) {
  const auto left_out = [&without](std::string_view axis) {
    return std::find(without.begin(), without.end(), axis) != without.end();
  };
  std::string label = cell.op;
  if (cell.path != Path::automatic && !left_out("path")) {
    label += fmt::format(" {}", name_of(cell.path));
  }
  for (const Axis& axis : axes()) {
    if (axis.name == "backend" || axis.name == "op" || axis.name == "path") continue;
    const std::string value = axis.read(cell);
    if (value == axis.default_value || left_out(axis.name)) continue;
    label += ", " + setting(axis, value, ", ");
  }
  return label;
}

std::string brief(const std::string& label) {
  size_t end = 0;
  for (int part = 0; part < 3 && end != std::string::npos; ++part) end = label.find(", ", end + 1);
  return end == std::string::npos ? label : label.substr(0, end) + ", ...";
}

}  // namespace mpsprobe
