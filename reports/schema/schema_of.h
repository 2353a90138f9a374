#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/record/trial_fields.h"

// JSON Schema (2020-12) of what is described (harness/record/field.h).

namespace mpsprobe {

using Schema = nlohmann::ordered_json;

/// The schema of a file: its version's address, its title, and what its object is.
Schema schema_of_file(const char* address, const char* title, const Schema& object);

/// An object with these properties and no others.
Schema schema_of_object(const Schema& properties, const std::vector<std::string>& required);

/// The text of a cell: whole as mpsprobe writes it, or as people may, who leave out threads.
Schema schema_of_cell(bool whole);

inline Schema schema_of_list(Schema items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

/// The words of an enumeration, each once.
template <HasWords Enum>
Schema schema_of_words() {
  Schema words = Schema::array();
  for (std::string_view word : kWordsOf<Enum>) words.push_back(word);
  return {{"enum", std::move(words)}};
}

template <typename Value>
Schema schema_of();

namespace schemas {

inline Schema or_null(Schema schema) {
  return {{"anyOf", {{{"type", "null"}}, std::move(schema)}}};
}

template <typename Field>
Schema of_field() {
  if constexpr (Field::notation == Notation::hex) {
    return {{"type", "string"}, {"pattern", "^0x[0-9a-f]+$"}};
  } else {
    return schema_of<typename Field::Value>();
  }
}

/// `kind` tells a variant's alternatives apart; empty where the record is none of them.
template <Keyed Record>
Schema of_record(const std::string& kind) {
  Schema properties = Schema::object();
  std::vector<std::string> required;
  const auto add = [&](const std::string& key, Presence presence, Schema schema) {
    if (presence != Presence::if_any) required.push_back(key);
    properties[key] = presence == Presence::or_null ? or_null(std::move(schema)) : schema;
  };
  if constexpr (Described<Record>) {
    for_each_field<Record>([&add]<typename Field>(const Field& field) {
      if constexpr (Field::presence == Presence::if_any && kIsOptional<typename Field::Value>) {
        add(field.key, Field::presence, schema_of<typename Field::Value::value_type>());
      } else if constexpr (Field::presence != Presence::apart) {
        add(field.key, Field::presence, of_field<Field>());
      }
    });
  }
  for_each_derived_key<Record>([&add]<typename Key>(const Key& key) {
    if constexpr (Key::presence == Presence::if_any && kIsOptional<typename Key::Value>) {
      add(key.key, Key::presence, schema_of<typename Key::Value::value_type>());
    } else {
      add(key.key, Key::presence, schema_of<typename Key::Value>());
    }
  });
  if (!kind.empty()) add("kind", Presence::always, {{"const", kind}});
  return schema_of_object(properties, required);
}

template <typename... Alternatives>
Schema of_termination(const std::variant<Alternatives...>*) {
  Schema choices = Schema::array();
  size_t index = 0;
  (choices.push_back(of_record<Alternatives>(kTerminations[index++])), ...);
  return {{"oneOf", std::move(choices)}};
}

}  // namespace schemas

/// The schema of a value as harness/journal/record_json.h writes it.
template <typename Value>
Schema schema_of() {
  if constexpr (std::is_same_v<Value, nlohmann::json>) {
    return {{"type", {"object", "null"}}};
  } else if constexpr (std::is_same_v<Value, HelloEvent> ||
                       std::is_convertible_v<Value, std::string_view>) {
    return {{"type", "string"}};
  } else if constexpr (std::is_same_v<Value, Cell>) {
    return schema_of_cell(true);
  } else if constexpr (std::is_same_v<Value, Termination>) {
    return schemas::of_termination(static_cast<Value*>(nullptr));
  } else if constexpr (Keyed<Value>) {
    return schemas::of_record<Value>("");
  } else if constexpr (kIsOptional<Value>) {
    return schemas::or_null(schema_of<typename Value::value_type>());
  } else if constexpr (kIsList<Value>) {
    return schema_of_list(schema_of<typename Value::value_type>());
  } else if constexpr (kIsMap<Value>) {
    return {{"type", "object"}, {"additionalProperties", schema_of<typename Value::mapped_type>()}};
  } else if constexpr (std::is_enum_v<Value>) {
    return schema_of_words<Value>();
  } else if constexpr (std::is_same_v<Value, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_floating_point_v<Value>) {
    return {{"type", {"number", "null"}}};  // null: not finite
  } else if constexpr (std::is_unsigned_v<Value>) {
    return {{"type", "integer"}, {"minimum", 0}};
  } else {
    static_assert(std::is_integral_v<Value>);
    return {{"type", "integer"}};
  }
}

}  // namespace mpsprobe
