#include "tools/runner/option_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "harness/input/input_error.h"
#include "harness/input/near_name.h"
#include "harness/wire/split.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

// A validator's own name is free, and what it describes would stand in every usage line: so its
// name keeps what its option may be.
constexpr std::string_view kNames = "names: ";

std::string not_in_range(const std::string& text, const std::string& what,
                         const std::string& range) {
  return fmt::format("\"{}\" is not {}. Write one {}", shortened(printable(text), 40), what, range);
}

// A sentence: a question has its mark already.
std::string ended(const std::string& text) {
  return text.ends_with('?') ? text : text + ".";
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

CLI::Validator rate_between(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        char* end = nullptr;
        double value = std::strtod(text.c_str(), &end);
        const bool percent = std::string_view(end) == "%";
        if (percent) value /= 100;
        const bool number = end != text.c_str() && (percent || *end == '\0');
        if (!number || !std::isfinite(value) || value < least || value > most) {
          return not_in_range(text, "a rate that it can be",
                              fmt::format("from {:g}% to {:g}%", least * 100, most * 100));
        }
        text = fmt::format("{}", value);
        return "";
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

CLI::Validator one_of(std::vector<std::string> names) {
  const std::string list = fmt::format("{}", fmt::join(names, ", "));
  return {[names = std::move(names), list](const std::string& text) -> std::string {
            if (std::find(names.begin(), names.end(), text) != names.end()) return "";
            return fmt::format("\"{}\" is none of its values{} Write one of {}",
                               shortened(printable(text), 40), ended(did_you_mean(text, names)),
                               list);
          },
          "", std::string(kNames) + list};
}

CLI::Validator values_of(const Axis& axis) {
  return {[&axis](const std::string& text) -> std::string {
            try {
              parse_axis_values(axis, text);
            } catch (const InputError& error) {
              return ended(error.problem()) + " " + error.remedy();
            }
            return "";
          },
          "", fmt::format("{}{}", kNames, fmt::join(axis.values, ", "))};
}

CLI::Validator list_of(std::vector<std::string> names) {
  const CLI::Validator one = one_of(std::move(names));
  return {[one](const std::string& text) -> std::string {
            for (std::string word : words_in(text)) {
              if (std::string problem = one(word); !problem.empty()) return problem;
            }
            return text.empty() ? "is empty" : "";
          },
          "", one.get_name()};
}

std::set<std::string> words_in(const std::string& list) {
  if (list.empty()) return {};
  std::string_view text = list;
  if (text.ends_with(',')) text.remove_suffix(1);
  std::set<std::string> words;
  for (const std::string_view word : split(text, ',')) words.emplace(word);
  return words;
}

std::vector<std::string> names_allowed(const CLI::Option& option) {
  std::string list;
  try {
    // Not changed; CLI11 hands out what it holds only from an option that may be changed.
    list = const_cast<CLI::Option&>(option).get_validator(0)->get_name();
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
  if (!list.starts_with(kNames)) return {};
  list.erase(0, kNames.size());
  if (list.empty()) return {};
  std::vector<std::string> names;
  for (std::string_view name : split(list, ',')) {
    names.emplace_back(name.substr(std::min(name.find_first_not_of(' '), name.size())));
  }
  return names;
}

void stand_alone(CLI::App& app, std::vector<Alone> options) {
  // A callback of the option itself would not see what stands behind it.
  app.final_callback([&app, options = std::move(options)] {
    for (const Alone& alone : options) {
      if (app.count(alone.option) == 0) continue;
      for (const CLI::Option* other : app.get_options()) {
        const std::string name = other->get_name();
        if (other->count() == 0 || name == alone.option || alone.beside.contains(name)) continue;
        throw InputError(alone.option, fmt::format("{}, and not with {}", alone.problem, name),
                         "Leave that out, or begin anew without " + alone.option);
      }
    }
  });
}

}  // namespace mpsprobe
