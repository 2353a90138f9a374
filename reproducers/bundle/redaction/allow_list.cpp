#include "reproducers/bundle/redaction/allow_list.h"

#include <algorithm>
#include <string>

namespace mpsprobe {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kMostDepth = 64;

/// The part of a place up to its next '.' or "[]".
std::string_view first_step(std::string_view place) {
  if (place.starts_with("[]")) return "[]";
  return place.substr(0, std::min(place.find('.'), place.find("[]")));
}

std::string_view behind(std::string_view place, std::string_view step) {
  place.remove_prefix(step.size());
  if (place.starts_with('.')) place.remove_prefix(1);
  return place;
}

class Filter {
 public:
  explicit Filter(Redactor& redactor) : redactor_(redactor) {}

  /// `wanted` holds what is left of the places that led here. Discarded: nothing of it.
  Json take(const Json& value, const std::vector<Wanted>& wanted, const std::string& place,
            int depth) {
    if (depth > kMostDepth || wanted.empty()) return drop(place);
    for (const Wanted& entry : wanted) {
      const bool whole =
          value.is_primitive() || entry.take == Take::all || entry.take == Take::number;
      if (entry.place.empty() && whole) return leaf(value, entry.take, place, depth);
    }
    if (value.is_object()) return members(value, wanted, place, depth);
    if (value.is_array()) return elements(value, wanted, place, depth);
    return value.is_null() ? value : drop(place);
  }

 private:
  Json drop(const std::string& place) {
    redactor_.dropped(place);
    return Json(Json::value_t::discarded);  // in braces it would be a list of one
  }

  static std::vector<Wanted> below(const std::vector<Wanted>& wanted, std::string_view step) {
    std::vector<Wanted> next;
    for (const Wanted& entry : wanted) {
      const std::string_view first = first_step(entry.place);
      if (first == step || (first == "*" && step != "[]")) {
        next.push_back({behind(entry.place, first), entry.take});
      }
    }
    return next;
  }

  Json members(const Json& value, const std::vector<Wanted>& wanted, const std::string& place,
               int depth) {
    Json kept = Json::object();
    for (const auto& [key, member] : value.items()) {
      const bool any = std::any_of(wanted.begin(), wanted.end(), [](const Wanted& entry) {
        return first_step(entry.place) == "*";
      });
      Json taken =
          take(member, below(wanted, key), place.empty() ? key : place + "." + key, depth + 1);
      if (!taken.is_discarded()) kept[any ? known_key(place, key) : key] = std::move(taken);
    }
    return kept;
  }

  Json elements(const Json& value, const std::vector<Wanted>& wanted, const std::string& place,
                int depth) {
    Json kept = Json::array();
    const std::vector<Wanted> next = below(wanted, "[]");
    if (next.empty()) return drop(place);
    for (const Json& element : value) {
      Json taken = take(element, next, place + "[]", depth + 1);
      // Other parts of the file count elements.
      kept.push_back(taken.is_discarded() ? Json(nullptr) : std::move(taken));
    }
    return kept;
  }

  Json leaf(const Json& value, Take take, const std::string& place, int depth) {
    if (depth > kMostDepth) return drop(place);
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      if (take == Take::number) return drop(place);
      if (take == Take::path) return redactor_.path(text);
      if (take == Take::image) return redactor_.image(text);
      if (take == Take::build_id) return redactor_.build_id(text);
      if (take == Take::output) return redactor_.output(text);
      if (take == Take::text) return redactor_.text(text);
      if (take == Take::message) return redactor_.message(text);
      if (take != Take::variable) {
        return redactor_.known(text, take == Take::symbol ? Names::symbols : Names::words);
      }
      const std::string name = place.substr(place.rfind('.') + 1);
      if (!is_variable_of_the_software(name)) return drop(place);
      return variable(name, text);
    }
    if (value.is_primitive()) return value;
    if (take != Take::all && take != Take::number) return drop(place);
    Json kept = value.is_array() ? Json::array() : Json::object();
    for (const auto& [key, member] : value.items()) {
      Json taken = leaf(member, take, place + (value.is_array() ? "[]" : ".*"), depth + 1);
      if (taken.is_discarded()) continue;
      if (value.is_array()) {
        kept.push_back(std::move(taken));
      } else {
        kept[known_key(place, key)] = std::move(taken);
      }
    }
    return kept;
  }

  std::string known_key(const std::string& place, const std::string& key) {
    const bool symbols = place == "symbols" || place.ends_with(".symbols");
    return redactor_.known(key, symbols ? Names::symbols : Names::words);
  }

  std::string variable(const std::string& name, const std::string& value) {
    const std::string assignment = redactor_.variable(name + "=" + value);
    return assignment.substr(std::min(assignment.find('=') + 1, assignment.size()));
  }

  Redactor& redactor_;
};

}  // namespace

Json only_wanted(const Json& value, std::span<const Wanted> wanted, Redactor& redactor) {
  if (!redactor.enabled()) return value;
  Json kept = Filter(redactor).take(value, {wanted.begin(), wanted.end()}, "", 0);
  return kept.is_discarded() ? Json(nullptr) : kept;
}

}  // namespace mpsprobe
