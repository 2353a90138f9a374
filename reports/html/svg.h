#pragma once

#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The boundaries as one drawing, for a README: at most twelve, those that fail first, and how many
/// were left out. Where the device was no real chip, that stands across the top in large letters.
/// No script, and nothing from elsewhere. Pure.
std::string report_svg(const Analysis& analysis);

}  // namespace mpsprobe
