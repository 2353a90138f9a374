#include "harness/matrix/selector.h"

#include <algorithm>
#include <unordered_set>

#include "harness/input/placed_json.h"
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
  for (const auto& member : node.members()) {
    const std::string& name = member.first;
    const PlacedJson& values = member.second;
    const std::string_view variable = variable_of(name);
    const Axis& axis =
        values.placed([&]() -> const Axis& { return axis_named(variable.empty() ? name : "env"); });
    std::vector<std::string> list;
    std::unordered_set<std::string> seen;
    for (const PlacedJson& item : values.items()) {
      item.placed([&] {
        const std::string text = item.axis_text(axis);
        for (std::string& value : variable.empty() ? parse_axis_values(axis, text)
                                                   : parse_variable_values(variable, text)) {
          if (seen.insert(value).second) list.push_back(std::move(value));
        }
      });
    }
    if (list.empty()) values.fail("has no values", "Write at least one, or leave the axis out");
    const auto [at, fresh] = result.try_emplace(std::string(axis.name), list);
    std::vector<std::string>& all = at->second;
    if (!fresh) values.placed([&] { all = combined(all, list); });
  }
  return result;
}

}  // namespace mpsprobe
