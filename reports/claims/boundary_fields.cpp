#include "reports/claims/boundary_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mpsprobe {

BoundaryFields fields_of(const Boundary& boundary) {
  BoundaryFields fields;
  fields.passing = "-";
  fields.failing = "none";
  if (const auto& point = boundary.most_passing) {
    fields.passing = fmt::format("{} ({}/{} < {})", point->count, point->failures, point->trials,
                                 percent_up(point->rate.high));
  }
  if (const auto& point = boundary.fewest_failing) {
    fields.failing = fmt::format("{} ({}/{} > {})", point->count, point->failures, point->trials,
                                 percent_down(point->rate.low));
  }
  std::vector<std::string> remarks;
  if (boundary.most_passing && boundary.most_passing->without_overlap) {
    remarks.emplace_back("no two threads were ever inside an operation at once");
  }
  if (boundary.settled && !boundary.settled->settled) {
    remarks.push_back(fmt::format("not settled: elsewhere with a chance of {}",
                                  percent_up(boundary.settled->wrong)));
  }
  if (!boundary.refused.empty()) {
    remarks.push_back(
        fmt::format("refused by the library at {}", fmt::join(boundary.refused, " ")));
  }
  if (!boundary.monotone()) {
    remarks.push_back(fmt::format("passes again at {}", fmt::join(boundary.passing_above, " ")));
  }
  if (!boundary.untested.empty()) {
    remarks.push_back(fmt::format("without evidence: {}", fmt::join(boundary.untested, " ")));
  }
  fields.remark = fmt::format("{}", fmt::join(remarks, "; "));
  return fields;
}

std::string passing_head(const Analysis& analysis) {
  if (!analysis.settling) return "no failure up to";
  return fmt::format("below {:g}% up to", analysis.settling->rate * 100);
}

std::string failing_head(const Analysis& analysis) {
  if (!analysis.settling) return "first failure";
  return fmt::format("{:g}% or more from", analysis.settling->rate * 100);
}

}  // namespace mpsprobe
