#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What the cells of a run have in common, and what a cell is called beside the others.
class CommonAxes {
 public:
  explicit CommonAxes(const Analysis& analysis);

  /// "chain, stream=per-thread": its backend where there are several, and its label without what
  /// all have in common, the iterations that most have, and the axes in `without`.
  std::string label(const Cell& cell, std::initializer_list<std::string_view> without = {}) const;

  /// What is left out there, as far as it says something: "backend sim, iterations=30 unless said".
  std::string in_words() const;

 private:
  std::vector<std::string_view> names_;
  std::optional<int32_t> usual_iterations_;  ///< of most cells, where not of all
  Cell first_;
};

/// The head of a column of such labels: "cells (backend sim, iterations=30 unless said)".
std::string cells_head(const Analysis& analysis);

}  // namespace mpsprobe
