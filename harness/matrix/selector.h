#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/wire/cell.h"

namespace mpsprobe {

class PlacedJson;

/// Values for some axes: all combinations are cells.
using AxisValues = std::map<std::string, std::vector<std::string>>;

/// Cells picked by axis values; an axis that is not named matches anything.
struct Selector {
  AxisValues where;
  bool matches(const Cell& cell) const;
};

/// Reads {"threads": ["1-4"], "op": ["mm"]}: lists of values, each once. Throws InputError for an
/// axis or a value that there is not.
AxisValues parse_axes(const PlacedJson& node);

}  // namespace mpsprobe
