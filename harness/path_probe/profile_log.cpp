#include "harness/path_probe/profile_log.h"

#include <algorithm>
#include <optional>
#include <set>

namespace mpsprobe {
namespace {

constexpr std::string_view kLinear = "mps_linear";
constexpr size_t kNamedForPeople = 5;
constexpr size_t kLongestSymbol = 64;

struct LoggedOperation {
  std::string_view name;  ///< of its key, which goes on with types and shapes
  bool graph = false;
};

bool skip_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool skip_digits(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

std::optional<LoggedOperation> logged_operation_of(std::string_view line) {
  if (!skip_prefix(line, "aten::") || !line.ends_with(')')) return std::nullopt;
  constexpr std::string_view kId = " (id=";
  const size_t id = line.rfind(kId);
  if (id == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(id + kId.size());
  const bool graph = skip_prefix(rest, "G");
  if (!graph && !skip_prefix(rest, "K")) return std::nullopt;
  // Times may follow the count, where they were asked for.
  if (!skip_digits(rest) || !skip_prefix(rest, ", run=") || !skip_digits(rest)) return std::nullopt;
  if (rest != ")" && !rest.starts_with(", ")) return std::nullopt;
  const std::string_view key = line.substr(0, id);
  return LoggedOperation{key.substr(0, key.find(':')), graph};
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
    const std::optional<LoggedOperation> operation = logged_operation_of(log.substr(0, end));
    log.remove_prefix(end + 1);
    if (!operation) continue;
    names.insert(operation->name);
    if (operation->name != kLinear) continue;
    (operation->graph ? graph : kernel) = true;
  }
  if (graph && kernel) return not_observed("linear took both paths");
  if (!graph && !kernel) return without_linear(names);
  return {graph ? "graph" : "nograph", ""};
}

}  // namespace mpsprobe
