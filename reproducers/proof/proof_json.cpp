#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "reproducers/proof/proof.h"

namespace mpsprobe {

nlohmann::json to_json(const std::vector<Proof>& proofs) {
  nlohmann::json all = nlohmann::json::array();
  for (const Proof& proof : proofs) {
    nlohmann::json each = {{"kind", name_of(proof.kind)},
                           {"arm", proof.arm},
                           {"what", proof.what},
                           {"command", proof.command},
                           {"expected_exit_code", proof.expected_exit_code},
                           {"k", proof.k},
                           {"n", proof.n},
                           {"seconds", proof.seconds},
                           {"held", proof.held},
                           {"problem", proof.problem}};
    if (proof.exit_code.has_value()) each["exit_code"] = *proof.exit_code;
    if (proof.attempts > 0) {
      each["program"] = {{"inputs_first", proof.form.inputs_first},
                         {"stream_first", proof.form.stream_first},
                         {"rounds", proof.form.rounds},
                         {"attempts", proof.attempts},
                         {"limit", proof.limit},
                         {"seconds", proof.attempts_seconds}};
    }
    all.push_back(std::move(each));
  }
  return all;
}

std::vector<Proof> read_proofs(const nlohmann::json& json) {
  constexpr const char* kRemedy = "Make it anew with `mpsprobe repro`";
  if (!json.is_array()) throw InputError("proofs", "is no array", kRemedy);
  std::vector<Proof> proofs;
  for (const nlohmann::json& each : json) {
    const std::string place = "proofs[" + std::to_string(proofs.size()) + "]";
    try {
      const auto kind = named<Kind>(each.at("kind").get<std::string>());
      if (!kind.has_value()) throw InputError(place, "has a kind that does not exist", kRemedy);
      Proof proof{.kind = *kind,
                  .arm = each.at("arm"),
                  .what = each.at("what"),
                  .command = each.at("command"),
                  .expected_exit_code = each.at("expected_exit_code"),
                  .k = each.at("k"),
                  .n = each.at("n"),
                  .seconds = each.at("seconds"),
                  .held = each.at("held"),
                  .problem = each.at("problem")};
      constexpr std::string_view kArms[] = {"build", "text", "rate", "alone", "clean", "failing"};
      if (std::find(std::begin(kArms), std::end(kArms), proof.arm) == std::end(kArms)) {
        throw InputError(place, "has an arm that does not exist", kRemedy);
      }
      if (each.contains("exit_code")) proof.exit_code = each.at("exit_code").get<int>();
      if (each.contains("program")) {
        const nlohmann::json& program = each.at("program");
        proof.form = {program.at("inputs_first"), program.at("stream_first"), program.at("rounds")};
        proof.attempts = program.at("attempts");
        proof.limit = program.at("limit");
        proof.attempts_seconds = program.at("seconds");
        if (proof.form.rounds < 1 || proof.form.rounds > 1000 || proof.attempts < 1 ||
            proof.attempts > 1000 || proof.limit < 1 || proof.limit > 3600) {
          throw InputError(place, "has a program that cannot be", kRemedy);
        }
      }
      if (proof.k < 0 || proof.k > proof.n || (proof.held && proof.k != proof.n)) {
        throw InputError(place, "has counts that cannot be", kRemedy);
      }
      proofs.push_back(std::move(proof));
    } catch (const nlohmann::json::exception& error) {
      throw InputError(place, std::string("is no proof: ") + json_problem(error), kRemedy);
    }
  }
  return proofs;
}

}  // namespace mpsprobe
