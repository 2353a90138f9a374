#include "harness/path_probe/profile_log.h"

#include <set>

#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

constexpr std::string_view kLinear = "mps_linear";
constexpr size_t kNamedForPeople = 5;
constexpr size_t kLongestSymbol = 64;

// The name begins a key that goes on with types and shapes. Times may follow the count, where they
// were asked for.
const Shape& logged_operation() {
  static const Shape kShape(
      R"(aten::(?<name>[^:]*?)(:.*)? \(id=(?<kind>[GK])\d+, run=\d+(, .*)?\)$)");
  return kShape;
}

PathSeen not_observed(std::string why) {
  return {"not observed", std::move(why)};
}

PathSeen without_linear(const std::set<std::string_view>& names) {
  if (names.empty()) return not_observed("LibTorch printed no profile log");
  std::string why = "LibTorch's profile log does not name linear; it names ";
  size_t count = 0;
  for (const std::string_view name : names) {
    if (count == kNamedForPeople) return not_observed(why + " and others");
    why += count++ > 0 ? ", " : "";
    why += name.substr(0, kLongestSymbol);
  }
  return not_observed(why);
}

}  // namespace

PathSeen path_in_profile_log(std::string_view log) {
  bool graph = false;
  bool kernel = false;
  std::set<std::string_view> names;
  // What has no end was cut off.
  for (size_t end = log.find('\n'); end != std::string_view::npos; end = log.find('\n')) {
    const auto operation = logged_operation().match(log.substr(0, end), 0);
    log.remove_prefix(end + 1);
    if (!operation) continue;
    const std::string_view name = (*operation)["name"];
    names.insert(name);
    if (name != kLinear) continue;
    ((*operation)["kind"] == "G" ? graph : kernel) = true;
  }
  if (graph && kernel) return not_observed("linear took both paths");
  if (!graph && !kernel) return without_linear(names);
  return {graph ? "graph" : "nograph", ""};
}

}  // namespace mpsprobe
