#include "harness/matrix/selector.h"

#include <algorithm>
#include <unordered_set>

#include "harness/input/input_error.h"
#include "harness/input/near_name.h"
#include "harness/matrix/placed_json.h"
#include "harness/wire/axis.h"
#include "harness/wire/variables.h"

namespace mpsprobe {

bool Selector::matches(const Cell& cell) const {
  return std::all_of(where.begin(), where.end(), [&cell](const auto& entry) {
    const Axis* axis = find_axis(entry.first);
    const auto& values = entry.second;
    return std::find(values.begin(), values.end(), axis->read(cell)) != values.end();
  });
}

AxisValues parse_axes(const PlacedJson& node) {
  AxisValues result;
  for (const auto& [name, values] : node.members()) {
    const std::string_view variable = variable_of(name);
    const Axis* axis = find_axis(variable.empty() ? name : "env");
    if (axis == nullptr) {
      if (const std::string_view why = why_removed(name); !why.empty()) {
        values.fail(std::string(why), "Leave it out");
      }
      std::vector<std::string_view> known;
      for (const Axis& each : axes()) known.push_back(each.name);
      values.fail("is no axis" + did_you_mean(name, known), "`mpsprobe list axes` shows them");
    }
    std::vector<std::string> list;
    std::unordered_set<std::string> seen;
    for (const PlacedJson& item : values.items()) {
      try {
        const std::string text = item.axis_text(*axis);
        for (std::string& value : variable.empty() ? parse_axis_values(*axis, text)
                                                   : parse_variable_values(variable, text)) {
          if (seen.insert(value).second) list.push_back(std::move(value));
        }
      } catch (const InputError& error) {
        item.fail(error.problem(), error.remedy());
      }
    }
    if (list.empty()) values.fail("has no values", "Write at least one, or leave the axis out");
    const auto [at, fresh] = result.try_emplace(std::string(axis->name), list);
    if (fresh) continue;
    try {
      at->second = combined(at->second, list);
    } catch (const InputError& error) {
      values.fail(error.problem(), error.remedy());
    }
  }
  return result;
}

}  // namespace mpsprobe
