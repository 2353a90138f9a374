#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/record/trial_fields.h"

// JSON of every record that is described (harness/record/field.h), both ways. Reading is strict: a
// type that is not the field's, or a word that no enumeration has, throws nlohmann::json::exception
// or InputError. A key that no field has is passed over.

namespace mpsprobe {

/// "0x1f". The other way: throws InputError where the text is no such number.
std::string to_hex(uint64_t value);
uint64_t from_hex(const std::string& text);

/// Throws InputError: the journal has a word there that this version does not know.
[[noreturn]] void refuse_word(const char* of);

/// `Json` is nlohmann::json, or ordered_json for keys in the order of their description.
template <typename Json = nlohmann::json, Keyed Record>
Json record_to_json(const Record& record);
template <Described Record>
void read_record(const nlohmann::json& object, Record& record);

namespace record_json {

using nlohmann::json;

template <typename Value>
bool is_empty(const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) {
    return value == Value{};
  } else if constexpr (kIsOptional<Value>) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return is_none(value);
  }
}

template <typename Json, typename Value>
Json write(const Value& value) {
  if constexpr (std::is_same_v<Value, HelloEvent>) {
    return valid_utf8(value.provenance);
  } else if constexpr (Keyed<Value>) {
    return record_to_json<Json>(value);
  } else if constexpr (std::is_same_v<Value, Termination>) {
    Json object = std::visit([](const auto& each) { return record_to_json<Json>(each); }, value);
    object["kind"] = kTerminations[value.index()];
    return object;
  } else if constexpr (kIsOptional<Value>) {
    return value.has_value() ? write<Json>(*value) : Json(nullptr);
  } else if constexpr (kIsList<Value>) {
    typename Json::array_t list;
    list.reserve(value.size());
    for (const auto& entry : value) list.push_back(write<Json>(entry));
    return list;
  } else if constexpr (kIsMap<Value>) {
    Json object = Json::object();
    for (const auto& [key, entry] : value) object[key] = write<Json>(entry);
    return object;
  } else if constexpr (std::is_enum_v<Value>) {
    return name_of(value);
  } else if constexpr (std::is_same_v<Value, Cell>) {
    return to_string(value);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return valid_utf8(value);
  } else {
    return value;
  }
}

template <typename Value>
void read(const json& from, Value& value);

template <size_t Index = 0>
void read_termination(const json& from, const std::string& kind, Termination& value) {
  if constexpr (Index == kTerminations.size()) {
    refuse_word("termination");
  } else if (kind == kTerminations[Index]) {
    read_record(from, value.emplace<Index>());
  } else {
    read_termination<Index + 1>(from, kind, value);
  }
}

template <typename Value>
void read(const json& from, Value& value) {
  if constexpr (std::is_same_v<Value, HelloEvent>) {
    value.protocol = kProtocolVersion;
    from.get_to(value.provenance);
  } else if constexpr (Described<Value>) {
    read_record(from, value);
  } else if constexpr (std::is_same_v<Value, Termination>) {
    read_termination(from, from.at("kind").get<std::string>(), value);
  } else if constexpr (kIsOptional<Value>) {
    if (!from.is_null()) read(from, value.emplace());
  } else if constexpr (kIsList<Value>) {
    const auto& list = from.get_ref<const json::array_t&>();
    value.clear();
    value.reserve(list.size());
    for (const json& entry : list) read(entry, value.emplace_back());
  } else if constexpr (std::is_enum_v<Value>) {
    const auto found = named<Value>(from.get_ref<const std::string&>());
    if (!found.has_value()) refuse_word("journal");
    value = *found;
  } else if constexpr (std::is_same_v<Value, Cell>) {
    value = parse_cell(from.get_ref<const std::string&>());
  } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    // The library's own conversion takes every number, and cuts it.
    const bool fits = from.is_number_unsigned()
                          ? std::in_range<Value>(from.get<uint64_t>())
                          : from.is_number_integer() && std::in_range<Value>(from.get<int64_t>());
    if (!fits)
      throw InputError(json_text(from), "is no number of this kind", "The file is damaged");
    from.get_to(value);
  } else {
    from.get_to(value);
  }
}

/// What follows from other keys than a field's own.
template <typename Record>
void amend(const json&, Record&) {}
// Replaced bytes are longer than what they replace; what was dropped is the fact to keep.
inline void amend(const json& object, Capture& capture) {
  capture.bytes = object.at("dropped").get<uint64_t>() + capture.head.size() + capture.tail.size();
}

}  // namespace record_json

template <typename Json, Keyed Record>
Json record_to_json(const Record& record) {
  Json object = Json::object();
  if constexpr (Described<Record>) {
    for_each_field<Record>([&object, &record]<typename Field>(const Field& field) {
      [[maybe_unused]] const auto& value = record.*field.member;
      if constexpr (Field::presence == Presence::apart) return;
      if constexpr (Field::presence == Presence::if_any) {
        if (record_json::is_empty(value)) return;
      }
      if constexpr (Field::presence == Presence::or_null) {
        if (record_json::is_empty(value)) {
          object[field.key] = nullptr;
          return;
        }
      }
      if constexpr (Field::notation == Notation::hex) {
        object[field.key] = to_hex(value);
      } else if constexpr (Field::presence != Presence::apart) {
        object[field.key] = record_json::write<Json>(value);
      }
    });
  }
  for_each_derived_key<Record>([&object, &record]<typename Key>(const Key& key) {
    const auto& value = std::invoke(key.of, record);
    if constexpr (Key::presence == Presence::if_any) {
      if (record_json::is_empty(value)) return;
    }
    object[key.key] = record_json::write<Json>(value);
  });
  return object;
}

template <Described Record>
void read_record(const nlohmann::json& object, Record& record) {
  for_each_field<Record>([&object, &record]<typename Field>(const Field& field) {
    if constexpr (Field::presence != Presence::apart) {
      constexpr bool kMayBeMissing =
          Field::presence == Presence::later || Field::presence == Presence::if_any;
      if (kMayBeMissing && !object.contains(field.key)) return;
      const nlohmann::json& from = object.at(field.key);
      auto& value = record.*field.member;
      if constexpr (Field::notation == Notation::hex) {
        value = from_hex(from.get_ref<const std::string&>());
      } else {
        if (Field::presence != Presence::or_null || !from.is_null()) record_json::read(from, value);
      }
    }
  });
  record_json::amend(object, record);
}

/// A record that is described, or a list of such.
template <typename Value>
Value value_from_json(const nlohmann::json& from) {
  Value value;
  record_json::read(from, value);
  return value;
}

}  // namespace mpsprobe
