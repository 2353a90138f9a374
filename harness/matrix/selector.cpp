#include "harness/matrix/selector.h"

#include <algorithm>
#include <unordered_set>

#include "harness/matrix/placed_json.h"
#include "harness/wire/axis.h"
#include "harness/wire/input_error.h"
#include "harness/wire/near_name.h"

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
    const Axis* axis = find_axis(name);
    if (axis == nullptr) {
      std::vector<std::string_view> known;
      for (const Axis& each : axes()) known.push_back(each.name);
      values.fail("is no axis" + did_you_mean(name, known), "`mpsprobe list axes` shows them");
    }
    std::vector<std::string>& list = result[name];
    std::unordered_set<std::string> seen;
    for (const PlacedJson& item : values.items()) {
      try {
        for (std::string& value : parse_axis_values(*axis, item.axis_text(*axis))) {
          if (seen.insert(value).second) list.push_back(std::move(value));
        }
      } catch (const InputError& error) {
        item.fail(error.problem(), error.remedy());
      }
    }
    if (list.empty()) values.fail("has no values", "Write at least one, or leave the axis out");
  }
  return result;
}

}  // namespace mpsprobe
