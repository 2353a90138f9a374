#include "harness/wire/assignment.h"

#include <nlohmann/json.hpp>

#include "harness/input/json_text.h"

namespace mpsprobe {

using nlohmann::json;

std::string to_line(const Assignment& assignment) {
  return ascii_json_text(json{{"cell", assignment.cell},
                              {"process", assignment.process},
                              {"iteration", assignment.iteration},
                              {"seed", assignment.seed},
                              {"trial", 0}}) +  // workers of earlier releases want it
         "\n";
}

std::optional<Assignment> parse_assignment(std::string_view line) {
  const json object = parsed_if_json(line);
  if (!object.is_object()) return std::nullopt;
  const auto cell = object.find("cell");
  if (cell == object.end() || !cell->is_string()) return std::nullopt;
  Assignment assignment;
  assignment.cell = *cell;
  for (const char* key : {"process", "iteration", "seed"}) {
    const auto at = object.find(key);
    if (at == object.end() || !at->is_number_unsigned()) return std::nullopt;
  }
  assignment.process = object.at("process");
  assignment.iteration = object.at("iteration");
  assignment.seed = object.at("seed");
  return assignment;
}

}  // namespace mpsprobe
