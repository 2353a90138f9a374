#include "tools/runner/number_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "reports/words/text.h"

namespace mpsprobe {
namespace {

std::string not_in_range(const std::string& text, const std::string& what,
                         const std::string& range) {
  return fmt::format("\"{}\" is not {}. Write one {}", shortened(printable(text), 40), what, range);
}

}  // namespace

CLI::Validator number_between(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool number = !text.empty() && *end == '\0' && std::isfinite(value);
        if (number && value >= least && value <= most) return "";
        return not_in_range(text, "a number that it can be",
                            fmt::format("from {} to {}", least, most));
      },
      "");
}

CLI::Validator whole_number_between(uint64_t least, uint64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) -> std::string {
        uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= least &&
            value <= most) {
          return "";
        }
        return not_in_range(text, "a whole number that it can be",
                            fmt::format("from {} to {}", least, most));
      },
      "");
}

CLI::Validator seed_number() {
  return whole_number_between(0, UINT64_MAX);
}

}  // namespace mpsprobe
