#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/journal/trial_json.h"
#include "reports/writers/atomic_file.h"
#include "reports/writers/json.h"
#include "reproducers/minimise/minimum.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr size_t kMostText = size_t{64} << 10;
constexpr int kMostCount = 1'000'000'000;

ordered_json tally_json(const Tally& tally) {
  const Interval rate = tally.interval();
  return {{"failures", tally.failures},
          {"trials", tally.trials},
          {"other_signatures", tally.other},
          {"no_evidence", tally.no_evidence},
          {"rate_low", rate.low},
          {"rate_high", rate.high}};
}

ordered_json question_json(const RateQuestion& question) {
  return {{"often_rate", question.often_rate},
          {"seldom_rate", question.seldom_rate},
          {"false_often", question.false_often},
          {"false_seldom", question.false_seldom},
          {"most_trials", question.most_trials}};
}

// Typed reads; what is not of the form is an exception of nlohmann's or a MinimumError.

[[noreturn]] void refuse(const std::string& problem) {
  throw MinimumError(problem);
}

std::string text(const json& object, const char* key) {
  std::string value = object.at(key).get<std::string>();
  if (value.size() > kMostText) refuse(fmt::format("\"{}\" is too long", key));
  return value;
}

int count(const json& object, const char* key) {
  const json& value = object.at(key);
  const bool whole = value.is_number_integer();
  const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > kMostCount;
  if (!whole || huge || value.get<int64_t>() < 0 || value.get<int64_t>() > kMostCount) {
    refuse(fmt::format("\"{}\" is no count", key));
  }
  return value.get<int>();
}

double probability(const json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!(value >= 0 && value <= 1)) refuse(fmt::format("\"{}\" is no probability", key));
  return value;
}

Cell cell(const json& object, const char* key) {
  return parse_cell(text(object, key));
}

Tally tally_from(const json& object) {
  Tally tally;
  tally.failures = count(object, "failures");
  tally.trials = count(object, "trials");
  tally.other = count(object, "other_signatures");
  tally.no_evidence = count(object, "no_evidence");
  if (int64_t{tally.failures} + tally.other > tally.trials) {
    refuse("more failures than trials");
  }
  return tally;
}

template <typename Enum>
Enum word(const json& object, const char* key) {
  const auto found = named<Enum>(text(object, key));
  if (!found) refuse(fmt::format("\"{}\" holds a word that this version does not know", key));
  return *found;
}

Reduction step_from(const json& object) {
  Reduction step;
  step.change = text(object, "change");
  step.cell = cell(object, "cell");
  step.result = word<StepResult>(object, "result");
  step.tally = tally_from(object.at("tally"));
  step.reason = text(object, "reason");
  return step;
}

Condition condition_from(const json& object) {
  Condition condition;
  condition.change = text(object, "change");
  condition.cell = cell(object, "cell");
  condition.simplification = object.at("simplification").get<bool>();
  condition.tally = tally_from(object.at("tally"));
  condition.p = probability(object, "p");
  condition.corrected_p = probability(object, "corrected_p");
  // Older files tell the two as one.
  condition.rarer = object.value("rarer", object.at("necessary").get<bool>());
  condition.skipped = text(object, "skipped");
  return condition;
}

RateQuestion question_from(const json& object) {
  RateQuestion question;
  question.often_rate = probability(object, "often_rate");
  question.seldom_rate = probability(object, "seldom_rate");
  question.false_often = probability(object, "false_often");
  question.false_seldom = probability(object, "false_seldom");
  question.most_trials = count(object, "most_trials");
  return question;
}

Minimum read_object(const json& object) {
  Minimum minimum;
  minimum.state = word<MinimumState>(object, "state");
  minimum.note = text(object, "note");
  minimum.simulated = object.at("simulated").get<bool>();
  minimum.signature = text(object, "signature");
  minimum.start = cell(object, "start");
  minimum.cell = cell(object, "cell");
  minimum.worker = text(object, "worker");
  minimum.worker_path = text(object, "worker_path");
  const json& build = object.at("build");
  minimum.build = {text(build, "version"), text(build, "git_hash"), text(build, "build_id")};
  minimum.mpsprobe_version = text(object, "mpsprobe_version");
  minimum.started = text(object, "started");
  minimum.environment = object.at("environment").get<std::vector<std::string>>();
  minimum.seed = object.at("seed").get<uint64_t>();
  if (object.contains("rerun")) minimum.rerun = object.at("rerun").get<std::vector<std::string>>();
  minimum.baseline = tally_from(object.at("baseline"));
  minimum.question = question_from(object.at("question"));
  minimum.reliability = tally_from(object.at("reliability"));
  for (const json& step : object.at("steps")) minimum.steps.push_back(step_from(step));
  for (const json& row : object.at("conditions")) {
    minimum.conditions.push_back(condition_from(row));
  }
  if (object.contains("condition_trials_missing")) {
    minimum.condition_trials_missing = count(object, "condition_trials_missing");
  }
  const json& trials = object.at("trials");
  minimum.trials_baseline = count(trials, "baseline");
  minimum.trials_steps = count(trials, "steps");
  minimum.trials_conditions = count(trials, "conditions");
  return minimum;
}

}  // namespace

ordered_json to_json(const Minimum& minimum) {
  ordered_json object;
  object["mpsprobe_minimum"] = kVersion;
  object["simulated"] = minimum.simulated;
  object["state"] = name_of(minimum.state);
  object["note"] = valid_utf8(minimum.note);
  object["signature"] = valid_utf8(minimum.signature);
  object["start"] = to_string(minimum.start);
  object["cell"] = to_string(minimum.cell);
  object["worker"] = valid_utf8(minimum.worker);
  object["worker_path"] = valid_utf8(minimum.worker_path);
  object["build"] = {{"version", valid_utf8(minimum.build.version)},
                     {"git_hash", valid_utf8(minimum.build.git_hash)},
                     {"build_id", valid_utf8(minimum.build.build_id)}};
  object["mpsprobe_version"] = minimum.mpsprobe_version;
  object["started"] = minimum.started;
  object["environment"] = ordered_json::array();
  for (const std::string& entry : minimum.environment) {
    object["environment"].push_back(valid_utf8(entry));
  }
  object["seed"] = minimum.seed;
  object["rerun"] = ordered_json::array();
  for (const std::string& word : minimum.rerun) object["rerun"].push_back(valid_utf8(word));
  object["baseline"] = tally_json(minimum.baseline);
  object["question"] = question_json(minimum.question);
  object["reliability"] = tally_json(minimum.reliability);
  object["expected_runs"] = expected_runs(minimum.reliability);
  object["runs_for_95_percent"] = runs_for_95_percent(minimum.reliability);
  object["steps"] = ordered_json::array();
  for (const Reduction& step : minimum.steps) {
    object["steps"].push_back({{"change", step.change},
                               {"cell", to_string(step.cell)},
                               {"result", name_of(step.result)},
                               {"tally", tally_json(step.tally)},
                               {"reason", valid_utf8(step.reason)}});
  }
  object["conditions"] = ordered_json::array();
  for (const Condition& condition : minimum.conditions) {
    object["conditions"].push_back({{"change", condition.change},
                                    {"cell", to_string(condition.cell)},
                                    {"simplification", condition.simplification},
                                    {"tally", tally_json(condition.tally)},
                                    {"p", condition.p},
                                    {"corrected_p", condition.corrected_p},
                                    {"necessary", condition.necessary()},
                                    {"rarer", condition.rarer},
                                    {"skipped", valid_utf8(condition.skipped)}});
  }
  object["condition_trials_missing"] = minimum.condition_trials_missing;
  object["trials"] = {{"baseline", minimum.trials_baseline},
                      {"steps", minimum.trials_steps},
                      {"conditions", minimum.trials_conditions}};
  return object;
}

Minimum minimum_from_json(const json& object) {
  try {
    if (!object.is_object() || !object.contains("mpsprobe_minimum"))
      refuse("it is no minimum.json");
    if (object.at("mpsprobe_minimum") != kVersion) {
      refuse("it was written by another version of mpsprobe");
    }
    return read_object(object);
  } catch (const json::exception& error) {
    refuse(std::string("it is no minimum.json: ") + json_problem(error));
  } catch (const InputError& error) {
    refuse(std::string("it is no minimum.json: ") + error.what());
  }
}

void write_minimum(const std::filesystem::path& file, const Minimum& minimum) {
  write_atomically(file, json_text(to_json(minimum)),
                   "every trial is kept, and `mpsprobe repro --resume` writes it again");
}

}  // namespace mpsprobe
