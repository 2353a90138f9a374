#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/wire/axis.h"

namespace mpsprobe {

/// The words with commas between them.
std::string listed(std::span<const std::string_view> words);

/// A value of a JSON file that a person wrote, together with where it stands, so that every
/// complaint names the place. What is not exactly as asked for throws InputError. Refers to the
/// document, which must outlive it.
class PlacedJson {
 public:
  /// The whole of a file. `place` names it; `format` says where its format is told of, as a
  /// sentence without its full stop.
  PlacedJson(const nlohmann::json& document, std::string place, std::string_view format)
      : PlacedJson(document, std::move(place), format, true) {}

  [[noreturn]] void fail(const std::string& problem, const std::string& remedy) const;
  /// What `read` returns, whose InputError is of this place.
  auto placed(const auto& read) const -> decltype(read()) {
    try {
      return read();
    } catch (const InputError& error) {
      fail(error.problem(), error.remedy());
    }
  }

  /// Only these keys may occur.
  void allow(std::initializer_list<std::string_view> keys) const;
  bool has(const char* key) const { return value_.contains(key); }
  PlacedJson at(const char* key) const;
  std::vector<PlacedJson> items() const;
  std::vector<std::pair<std::string, PlacedJson>> members() const;

  std::string text() const;
  bool flag() const;
  double number(double least, double most) const;
  int count(int least, int most) const;
  /// A value of an axis: text, or a whole number where the axis is a count.
  std::string axis_text(const Axis& axis) const;

 private:
  PlacedJson(const nlohmann::json& value, std::string place, std::string_view format, bool root)
      : value_(value), place_(std::move(place)), format_(format), root_(root) {}
  PlacedJson child(const nlohmann::json& value, const std::string& key) const;

  const nlohmann::json& value_;
  std::string place_;
  std::string_view format_;
  bool root_;  ///< its place is a file, not a key
};

/// Parses a file that a person wrote or sent. Throws InputError, naming `place`, for what is no
/// JSON and for a key that stands twice in one object; what is more than 16 levels deep is left
/// out.
nlohmann::json parse_once_keyed(std::string_view text, const std::string& place);

}  // namespace mpsprobe
