#pragma once

#include <string>

#include "reports/writers/beside.h"

namespace mpsprobe {

/// An <svg> element that draws the failure rates of a cell's last 90 nights with their 95%
/// intervals, in the style of boundary_chart: hollow circles passed, full squares failed, each with
/// date, counts and library in its title; a dashed line where the library changed, a full one where
/// the rate did (claimed_shifts). Pure.
std::string nights_chart(const CellNights& series, const std::string& label);

}  // namespace mpsprobe
