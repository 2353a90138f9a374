#include <nlohmann/json.hpp>

#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/journal/record_json.h"
#include "reports/writers/atomic_file.h"
#include "reproducers/minimise/minimum_fields.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

bool can_be(const Tally& tally) {
  return tally.failures >= 0 && tally.other >= 0 && tally.no_evidence >= 0 &&
         int64_t{tally.failures} + tally.other <= tally.trials;
}

bool can_be(const Minimum& minimum) {
  const auto is_chance = [](double value) { return value >= 0 && value <= 1; };
  bool good = can_be(minimum.baseline) && can_be(minimum.reliability) &&
              is_chance(minimum.question.often_rate) && is_chance(minimum.question.seldom_rate);
  for (const Reduction& step : minimum.steps) good = good && can_be(step.tally);
  for (const Condition& row : minimum.conditions) {
    good = good && can_be(row.tally) && is_chance(row.p) && is_chance(row.corrected_p);
  }
  return good;
}

}  // namespace

nlohmann::ordered_json to_json(const Minimum& minimum) {
  nlohmann::ordered_json object{{"mpsprobe_minimum", kVersion}};
  object.update(record_to_json<nlohmann::ordered_json>(minimum));
  return object;
}

Minimum minimum_from_json(const json& object) {
  try {
    if (object.at("mpsprobe_minimum") != kVersion) {
      throw MinimumError("it was written by another version of mpsprobe");
    }
    Minimum minimum;
    read_record(object, minimum);
    if (!can_be(minimum)) throw MinimumError("it has counts that cannot be");
    return minimum;
  } catch (const json::exception& error) {
    throw MinimumError(std::string("it is no minimum.json: ") + json_problem(error));
  } catch (const InputError& error) {
    throw MinimumError(std::string("it is no minimum.json: ") + error.what());
  }
}

void write_minimum(const std::filesystem::path& file, const Minimum& minimum) {
  write_atomically(file, json_document(to_json(minimum)),
                   "every trial is kept, and `mpsprobe repro --resume` writes it again");
}

}  // namespace mpsprobe
