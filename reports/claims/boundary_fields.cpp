#include "reports/claims/boundary_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <tuple>
#include <utility>

#include "reports/analysis/common_axes.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"

namespace mpsprobe {

namespace {

// What limits it.
std::string remark_on(const Boundary& boundary) {
  std::vector<std::string> remarks;
  if (boundary.most_passing && boundary.most_passing->without_overlap) {
    remarks.emplace_back("no two threads were ever inside an operation at once");
  }
  if (boundary.settled && !boundary.settled->settled) {
    remarks.emplace_back("not settled");
  }
  if (!boundary.refused.empty()) {
    remarks.push_back(
        fmt::format("refused by the library at {}", fmt::join(boundary.refused, " ")));
  }
  if (!boundary.monotone()) {
    remarks.push_back(fmt::format("none seen at {}", fmt::join(boundary.passing_above, " ")));
  }
  if (!boundary.untested.empty()) {
    remarks.push_back(fmt::format("without evidence: {}", fmt::join(boundary.untested, " ")));
  }
  return fmt::format("{}", fmt::join(remarks, "; "));
}

std::string point_in_words(const BoundaryPoint& point, const std::string& axis) {
  return fmt::format("{} ({})", counted(point.count, axis),
                     confidence_in_words(point.failures, point.trials, point.rate));
}

}  // namespace

std::vector<BoundaryRow> boundary_rows(const Analysis& analysis) {
  const CommonAxes common(analysis);
  std::vector<BoundaryRow> rows;
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>,
           size_t>
      index;
  for (const Boundary& boundary : analysis.boundaries) {
    const std::string label = common.label(boundary.group, {boundary.axis});
    BoundaryRow row{label, boundary.axis, "-", "none", "", remark_on(boundary)};
    if (const auto& point = boundary.most_passing) {
      row.passing = fmt::format("{} ({}/{} < {})", point->count, point->failures, point->trials,
                                percent_up(point->rate.high));
      if (boundary.axis == "threads" && point->count > 1) {
        row.inside = std::to_string(point->most_inside);
      }
    }
    if (const auto& point = boundary.fewest_failing) {
      row.failing = fmt::format("{} ({}/{} > {})", point->count, point->failures, point->trials,
                                percent_down(point->rate.low));
    }
    const auto [at, fresh] = index.try_emplace(
        {boundary.worker, row.axis, row.passing, row.failing, row.inside, row.remark}, rows.size());
    if (fresh) {
      rows.push_back(std::move(row));
    } else {
      rows[at->second].cells += "; " + label;
    }
  }
  for (const auto& [key, at] : index) {
    rows[at].cells = with_arm(analysis, std::move(rows[at].cells), std::get<0>(key));
  }
  return rows;
}

std::string passing_head(const Analysis& analysis) {
  if (!analysis.settling) return "no failure up to";
  return fmt::format("below {:g}% up to", analysis.settling->rate * 100);
}

std::string failing_head(const Analysis& analysis) {
  if (!analysis.settling) return "first failure";
  return fmt::format("{:g}% or more from", analysis.settling->rate * 100);
}

std::string boundary_in_words(const Boundary& boundary) {
  const auto& passing = boundary.most_passing;
  const auto& failing = boundary.fewest_failing;
  std::vector<std::string> parts;
  if (boundary.settled && !boundary.points.empty()) {
    const SettledPlace& place = *boundary.settled;
    const std::string rate = fmt::format("{:g}%", place.rate * 100);
    parts.push_back(failing ? fmt::format("fails in {} of trials or more from {}", rate,
                                          point_in_words(*failing, boundary.axis))
                            : "nowhere reaches " + rate);
    if (place.settled) parts.emplace_back("settled");
    if (passing) {
      parts.push_back(fmt::format("the most {} is {}", failing ? "below" : "tested",
                                  point_in_words(*passing, boundary.axis)));
    }
  } else {
    if (passing) {
      parts.push_back("no failure up to " + point_in_words(*passing, boundary.axis));
      if (!failing) parts.back() += ", the most tested";
    }
    if (failing) {
      parts.push_back((passing ? "fails at " : "fails already at ") +
                      point_in_words(*failing, boundary.axis));
    }
  }
  std::string remark = remark_on(boundary);
  if (!remark.empty()) parts.push_back(std::move(remark));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace mpsprobe
