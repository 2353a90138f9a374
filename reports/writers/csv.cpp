#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "harness/wire/axis.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

constexpr size_t kLongestField = 2000;

std::string csv_text(std::string_view bytes) {
  std::string text = shortened(printable(bytes), kLongestField);
  // A spreadsheet takes these for the beginning of a formula, quoted or not.
  if (text.find_first_of("=+-@") == 0) text.insert(0, "'");
  if (text.find_first_of(",\" ;'") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_row(const std::vector<std::string>& fields) {
  return fmt::format("{}\r\n", fmt::join(fields, ","));
}

}  // namespace

std::string report_csv(const Analysis& analysis) {
  std::vector<std::string> names{"device_class", "worker", "library", "cell", "block"};
  for (const Axis& axis : axes()) names.emplace_back(axis.name);
  for (const char* name : {"planned", "missing", "counted", "failures", "verdict", "failure_rate",
                           "rate_low_95", "rate_high_95", "expectation", "unexpected", "outcomes",
                           "signatures", "most_inside", "operations_per_second", "devices"}) {
    names.emplace_back(name);
  }
  std::string text = csv_row(names);
  for (const CellSummary& cell : analysis.cells) {
    const Arm& arm = analysis.arms[cell.arm];
    std::vector<std::string> fields{std::string(device_class(cell)), csv_text(arm.label),
                                    csv_text(library_in_words(arm)), csv_text(cell.id),
                                    csv_text(cell.block)};
    for (const Axis& axis : axes()) fields.push_back(csv_text(axis.read(cell.cell)));
    for (int number : {cell.planned, cell.missing, cell.counted, cell.failures}) {
      fields.push_back(std::to_string(number));
    }
    fields.push_back(csv_text(cell.verdict ? name_of(*cell.verdict) : standing_of(cell).word));
    const bool known = cell.has_rate();
    fields.push_back(
        known ? fmt::format("{:.6g}", static_cast<double>(cell.failures) / cell.counted) : "");
    fields.push_back(known ? fmt::format("{:.6g}", cell.rate.low) : "");
    fields.push_back(known ? fmt::format("{:.6g}", cell.rate.high) : "");
    fields.push_back(cell.expectation ? csv_text(cell.expectation->text()) : "");
    fields.emplace_back(cell.expected == Expected::unmet ? "yes" : "no");
    std::vector<std::string> outcomes;
    for (const OutcomeCount& count : cell.outcomes) {
      outcomes.push_back(fmt::format("{}{}{} {}", name_of(count.outcome),
                                     count.detail.empty() ? "" : " ", count.detail, count.trials));
    }
    fields.push_back(csv_text(fmt::format("{}", fmt::join(outcomes, "; "))));
    std::vector<std::string> failed_as;
    for (const TitleCount& count : cell.titles) {
      failed_as.push_back(analysis.signatures[count.signature].title);
    }
    fields.push_back(csv_text(fmt::format("{}", fmt::join(failed_as, "; "))));
    fields.push_back(std::to_string(cell.most_inside));
    fields.push_back(cell.throughput ? fmt::format("{:.6g}", cell.throughput->median) : "");
    fields.push_back(csv_text(fmt::format("{}", fmt::join(cell.devices, "; "))));
    text += csv_row(fields);
  }
  return text;
}

}  // namespace mpsprobe
