#include "harness/wire/own_command.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

std::vector<std::string> texts_at(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto at = object.find(key);
  if (at == object.end() || !at->is_array()) return texts;
  for (const json& each : *at) {
    if (each.is_string()) texts.push_back(each);
  }
  return texts;
}

bool sets(std::string_view variable, std::string_view name) {
  return variable.starts_with(name) && variable.substr(name.size()).starts_with('=');
}

}  // namespace

std::string to_variable(const OwnCommand& command) {
  json value{{"words", command.words}, {"folder", command.folder}};
  if (!command.expect_output.empty()) value["expect_output"] = command.expect_output;
  if (!command.fail_on_output.empty()) value["fail_on_output"] = command.fail_on_output;
  return std::string(kCommandVariable) + "=" + json_text(value);
}

std::optional<OwnCommand> parse_own_command(std::string_view value) {
  const json object = parsed_if_json(value);
  if (!object.is_object()) return std::nullopt;
  OwnCommand command{texts_at(object, "words"), text_at(object, "folder"),
                     text_at(object, "expect_output"), texts_at(object, "fail_on_output")};
  if (command.words.empty()) return std::nullopt;
  return command;
}

std::optional<OwnCommand> own_command_in(std::span<const std::string> environment) {
  const std::string begin = std::string(kCommandVariable) + "=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(begin))
      return parse_own_command(std::string_view(variable).substr(begin.size()));
  }
  return std::nullopt;
}

std::string own_code_in(std::span<const std::string> environment) {
  std::string code;
  if (const auto command = own_command_in(environment)) {
    for (const std::string& word : command->words) code += (code.empty() ? "" : " ") + word;
    return code;
  }
  for (const std::string& variable : environment) {
    if (!sets(variable, kPythonCodeVariable) && !sets(variable, kPytestVariable)) continue;
    const std::string value = variable.substr(variable.find('=') + 1);
    const size_t file = value.rfind('/', value.find("::"));
    return file == std::string::npos ? value : value.substr(file + 1);
  }
  return code;
}

bool names_own_tests(std::span<const std::string> environment) {
  return std::any_of(environment.begin(), environment.end(),
                     [](const std::string& variable) { return sets(variable, kPytestVariable); });
}

bool names_parameter(const OwnCommand& command, std::string_view name) {
  const std::string parameter = "{" + std::string(name) + "}";
  return std::any_of(command.words.begin(), command.words.end(), [&](const std::string& word) {
    return word.find(parameter) != std::string::npos;
  });
}

}  // namespace mpsprobe
