#include "reports/analysis/common_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/wire/axis.h"
#include "reports/words/cell_label.h"

namespace mpsprobe {
namespace {

bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

CommonAxes::CommonAxes(const Analysis& analysis) {
  if (analysis.cells.empty()) return;
  first_ = analysis.cells.front().cell;
  for (const Axis& axis : axes()) {
    const std::string first = axis.read(first_);
    const bool same =
        std::all_of(analysis.cells.begin(), analysis.cells.end(),
                    [&](const CellSummary& cell) { return axis.read(cell.cell) == first; });
    if (same && axis.name != "op" && axis.name != "path") names_.push_back(axis.name);
  }
  if (has(names_, "iterations")) return;
  std::map<int32_t, size_t> iterations;
  for (const CellSummary& cell : analysis.cells) ++iterations[cell.cell.iterations];
  for (const auto& [number, cells] : iterations) {
    if (2 * cells > analysis.cells.size()) usual_iterations_ = number;
  }
}

std::string CommonAxes::label(const Cell& cell,
                              std::initializer_list<std::string_view> without) const {
  std::vector<std::string_view> left_out = names_;
  left_out.insert(left_out.end(), without);
  if (usual_iterations_ == cell.iterations) left_out.emplace_back("iterations");
  std::string label = has(names_, "backend") ? "" : std::string(name_of(cell.backend)) + " ";
  label += cell_label(cell, left_out);
  // The default stands in no label.
  if (usual_iterations_ && usual_iterations_ != cell.iterations &&
      cell.iterations == Cell{}.iterations) {
    label += fmt::format(", iterations={}", cell.iterations);
  }
  return label;
}

std::string CommonAxes::in_words() const {
  std::vector<std::string> parts;
  for (const std::string_view name : names_) {
    const Axis& axis = *find_axis(name);
    const std::string value = axis.read(first_);
    if (value == axis.default_value && name != "backend") continue;
    if (name == "threads" || name == "processes") continue;
    parts.push_back(name == "backend" ? "backend " + value : setting(axis, value, ", "));
  }
  if (usual_iterations_) {
    parts.push_back(fmt::format("iterations={} unless said", *usual_iterations_));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string cells_head(const Analysis& analysis) {
  const std::string common = CommonAxes(analysis).in_words();
  return common.empty() ? "cells" : "cells (" + common + ")";
}

}  // namespace mpsprobe
