#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/journal/record_json.h"

namespace mpsprobe {

/// What a bisection or a minimisation was asked for, beside its journals, so that it can be
/// resumed.
constexpr const char* kRequestFile = "request.json";

/// Takes members that a request keeps, each with its key, into the object of its file.
inline auto into_request(nlohmann::json& object) {
  return [&object](const char* key, const auto& value) {
    object[key] = record_json::write<nlohmann::json>(value);
  };
}

/// The other way. What is optional may be missing, and stays as it is then. Throws
/// json::exception, and InputError for an unknown word.
inline auto out_of_request(const nlohmann::json& object) {
  return [&object]<typename Value>(const char* key, Value& value) {
    if (kIsOptional<Value> && !object.contains(key)) return;
    record_json::read(object.at(key), value);
  };
}

/// Throws ReportError where it cannot be written.
void write_request_file(const std::filesystem::path& folder, const nlohmann::json& object);

/// Hands on the object of `folder`'s request, whose key `kind` holds 1. Throws InputError, with
/// `where` as its place, where there is none (it then "holds no " + `what`), where it has no plain
/// form or is too long, and for each json::exception of `take`.
void read_request_file(const std::filesystem::path& folder, const std::string& kind,
                       const std::string& where, const std::string& what,
                       const std::function<void(const nlohmann::json&)>& take);

}  // namespace mpsprobe
