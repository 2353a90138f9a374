#include "reports/claims/boundary_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/words/phrases.h"

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

namespace {

std::string number_list(const std::vector<int32_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

std::string point_in_words(const BoundaryPoint& point, const std::string& axis) {
  return fmt::format("{} ({})", counted(point.count, axis),
                     confidence_in_words(point.failures, point.trials, point.rate));
}

std::string settled_place_in_words(const Boundary& boundary) {
  const SettledPlace& place = *boundary.settled;
  const std::string rate = fmt::format("{:g}%", place.rate * 100);
  const std::string how =
      place.settled
          ? fmt::format("settled, wrong with a chance of {}", percent_up(place.wrong))
          : fmt::format("not settled, elsewhere with a chance of {}", percent_up(place.wrong));
  std::string text;
  if (boundary.fewest_failing) {
    text = fmt::format("fails in {} of trials or more from {}; {}", rate,
                       point_in_words(*boundary.fewest_failing, boundary.axis), how);
    if (boundary.most_passing) {
      text += "; the most below is " + point_in_words(*boundary.most_passing, boundary.axis);
    }
    return text;
  }
  text = fmt::format("nowhere reaches {}; {}", rate, how);
  if (boundary.most_passing) {
    text += "; the most tested is " + point_in_words(*boundary.most_passing, boundary.axis);
  }
  return text;
}

}  // namespace

std::string boundary_in_words(const Boundary& boundary) {
  std::string text;
  if (boundary.settled && !boundary.points.empty()) {
    text = settled_place_in_words(boundary);
    if (boundary.most_passing && boundary.most_passing->without_overlap) {
      text +=
          "; but no two threads were ever inside an operation at once, so the count below shows "
          "nothing";
    }
  } else if (const auto& passing = boundary.most_passing) {
    text = fmt::format("no failure up to {}", counted(passing->count, boundary.axis));
    if (!boundary.fewest_failing) text += ", the most tested";
    text +=
        fmt::format(" ({}", confidence_in_words(passing->failures, passing->trials, passing->rate));
    if (passing->without_overlap) {
      text += "; but no two threads were ever inside an operation at once, so this shows nothing";
    } else if (boundary.axis == "threads" && passing->count > 1) {
      text += fmt::format("; up to {} inside an operation at once", passing->most_inside);
    }
    text += ')';
  }
  if (const auto& failing = boundary.fewest_failing; failing && !boundary.settled) {
    text += text.empty() ? "fails already at " : "; fails at ";
    text += fmt::format("{} ({})", counted(failing->count, boundary.axis),
                        confidence_in_words(failing->failures, failing->trials, failing->rate));
  }
  if (!boundary.monotone()) {
    text += fmt::format("; no single boundary: passed again at {}",
                        number_list(boundary.passing_above));
  }
  if (!boundary.refused.empty()) {
    text += fmt::format("{}refused by the library at {} {}", text.empty() ? "" : "; ",
                        number_list(boundary.refused), boundary.axis);
  }
  if (!boundary.untested.empty()) {
    text += fmt::format("; without evidence: {}", number_list(boundary.untested));
  }
  return text;
}

}  // namespace mpsprobe
