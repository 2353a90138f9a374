#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "harness/input/json_text.h"
#include "harness/journal/record_json.h"
#include "harness/journal/trial_json.h"
#include "reports/writers/forms.h"
#include "reports/writers/json_members.h"

namespace mpsprobe {

using nlohmann::ordered_json;

ordered_json report_json(const Journal& journal, const Analysis& analysis) {
  return record_to_json<ordered_json>(Report{journal, analysis, find_groups(analysis)});
}

namespace {

/// One character of UTF-8, at the front of the text, as JSON writes it in ASCII; takes it off.
void append_escaped(std::string_view& text, std::string& out) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  uint32_t point = length == 1 ? lead : lead & (0x7fU >> length);
  text.remove_prefix(1);
  for (size_t i = 1; i < length && !text.empty(); ++i, text.remove_prefix(1)) {
    point = point << 6 | (static_cast<unsigned char>(text.front()) & 0x3fU);
  }
  if (point < 0x10000) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", point);
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xd7c0U + (point >> 10),
                   0xdc00U + (point & 0x3ffU));
  }
}

/// JSON as it is, in ASCII.
void append_ascii(std::string_view json, std::string& out) {
  const auto is_outside = [](char c) { return static_cast<unsigned char>(c) >= 0x7f; };
  while (!json.empty()) {
    const auto end = std::find_if(json.begin(), json.end(), is_outside);
    out.append(json.begin(), end);
    json.remove_prefix(static_cast<size_t>(end - json.begin()));
    if (!json.empty()) append_escaped(json, out);
  }
}

}  // namespace

void write_report_json(const Journal& journal, const Analysis& analysis, const Sink& sink) {
  const std::string whole = json_document(report_json(journal, analysis));
  constexpr std::string_view kEnd = "]\n}\n";  // of the list of trials, which is the last member
  sink(std::string_view(whole).substr(0, whole.size() - kEnd.size()));
  constexpr size_t kEnough = 1 << 20;
  std::string text;
  const char* before = "\n  ";  // each is a line
  const auto add = [&](std::string_view trial) {
    text += std::exchange(before, ",\n  ");
    append_ascii(trial, text);
    if (text.size() < kEnough) return;
    sink(text);
    text.clear();
  };
  if (journal.stored) {
    journal.stored->for_each_json(add);
  } else {
    for (const TrialRecord& trial : journal.trials) {
      add(json_text(trial_to_json(trial)));
    }
  }
  if (*before == ',') text += "\n ";
  sink(text);
  sink(kEnd);
}

}  // namespace mpsprobe
