#include "harness/wire/variables.h"

#include <algorithm>

#include "harness/wire/input_error.h"
#include "harness/wire/refused_variable.h"

namespace mpsprobe {
namespace {

constexpr std::string_view kInherited = "inherited";
constexpr std::string_view kPrefix = "env.";
constexpr size_t kMostBytes = 80;  // of a name, and of a value

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostBytes && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

// A cell's text is a file name's part and a shell's word: nothing else may stand in it.
bool is_value(std::string_view text) {
  return !text.empty() && text.size() <= kMostBytes && text != kInherited &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '.' || c == ':' || c == '-';
         });
}

[[noreturn]] void refuse_variable(const std::string& problem, const std::string& remedy) {
  throw InputError("env", problem, remedy);
}

}  // namespace

Variables parse_variables(std::string_view value) {
  Variables variables;
  if (value == kInherited) return variables;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find('+', begin), value.size());
    const std::string_view item = value.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view name = item.substr(0, equals);
    const std::string_view set = item.substr(std::min(equals + 1, item.size()));
    if (!is_name(name)) {
      refuse_variable("has no variable of that name",
                      "Write env.NAME=VALUE; a name has letters, digits and _, at most 80");
    }
    if (!is_value(set)) {
      refuse_variable(std::string(name) + " has a value that no cell can have",
                      "Write 1 to 80 letters, digits and . : _ -, or unset; any other value goes "
                      "to all cells by --env");
    }
    if (name.starts_with("MPSPROBE_")) {
      refuse_variable(std::string(name) + " is mpsprobe's own, and none of a library under test",
                      "Take it out; --env sets it for all cells");
    }
    if (const std::string_view why = why_no_cell_sets(name, set); !why.empty()) {
      refuse_variable(std::string(name) + " " + std::string(why) + ", which no cell may do",
                      "Take it out; where you want it, --env " + std::string(name) +
                          "=VALUE on your own command line sets it for all cells");
    }
    if (!variables.emplace(name, set).second) {
      refuse_variable(std::string(name) + " is given twice", "Write it once");
    }
  }
  return variables;
}

std::string to_axis_value(const Variables& variables) {
  if (variables.empty()) return std::string(kInherited);
  std::string text;
  for (const auto& [name, value] : variables) {
    if (!text.empty()) text += '+';
    text += name;
    text += '=';
    text += value;
  }
  return text;
}

std::vector<std::string> parse_variable_values(std::string_view name, std::string_view list) {
  std::vector<std::string> values;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string item(list.substr(begin, end - begin));
    begin = end + 1;
    const std::string text = item == kInherited ? item : std::string(name) + "=" + item;
    values.push_back(to_axis_value(parse_variables(text)));
  }
  return values;
}

std::vector<std::string> combined(const std::vector<std::string>& some,
                                  const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (const std::string& one : some) {
    for (const std::string& other : more) {
      Variables both = parse_variables(one);
      for (const auto& [name, value] : parse_variables(other)) {
        if (both.emplace(name, value).second) continue;
        refuse_variable(name + " is given twice", "Write it once");
      }
      all.push_back(to_axis_value(both));
    }
  }
  return all;
}

std::string_view variable_of(std::string_view axis_name) {
  return axis_name.starts_with(kPrefix) ? axis_name.substr(kPrefix.size()) : std::string_view();
}

}  // namespace mpsprobe
