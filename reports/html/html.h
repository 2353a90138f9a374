#pragma once

#include <string>

#include "reports/analysis/analysis.h"
#include "reports/writers/beside.h"

namespace mpsprobe {

/// The report as one page that asks no other file or address for anything: heat maps of the matrix,
/// failure rates with their intervals over threads, every cell with filters, failures with their
/// stacks; and known failures, differences and nights, where there are any to show it beside. Light
/// and dark; by keyboard; each result in words or signs beside its colour; where the device was no
/// real chip, a band that stays in view says so. Its policy lets no script run but its own, which
/// the page works without. Pure.
std::string report_html(const Analysis& analysis, const Beside& beside = {});

}  // namespace mpsprobe
