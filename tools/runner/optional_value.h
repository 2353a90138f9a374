#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace mpsprobe {

/// An option that may be given without a value, which is then "". CLI11 by itself takes that for a
/// value before its release 2.7 and for none since.
inline CLI::Option* add_optional_value(CLI::App& app, const std::string& name,
                                       std::optional<std::string>& value, const std::string& help) {
  const CLI::callback_t take = [&value](const CLI::results_t& given) {
    value = given.empty() ? "" : given.front();
    return true;
  };
  return app.add_option(name, take, help)->expected(0, 1);
}

}  // namespace mpsprobe
