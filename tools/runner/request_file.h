#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mpsprobe {

/// What a bisection or a minimisation was asked for, beside its journals, so that it can be
/// resumed.
constexpr const char* kRequestFile = "request.json";

/// Throws ReportError where it cannot be written.
void write_request_file(const std::filesystem::path& folder, const nlohmann::json& object);

/// Hands on the object of `folder`'s request, whose key `kind` holds 1. Throws InputError, with
/// `where` as its place, where there is none (it then "holds no " + `what`), where it has no plain
/// form or is too long, and for each json::exception of `take`.
void read_request_file(const std::filesystem::path& folder, const std::string& kind,
                       const std::string& where, const std::string& what,
                       const std::function<void(const nlohmann::json&)>& take);

}  // namespace mpsprobe
