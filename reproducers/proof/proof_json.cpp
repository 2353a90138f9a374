#include <nlohmann/json.hpp>

#include "harness/journal/record_json.h"
#include "reproducers/proof/proof.h"

namespace mpsprobe {

template <>
inline constexpr auto fields<ProgramForm> = described<ProgramForm>(
    field::safe("inputs_first", &ProgramForm::inputs_first),
    field::safe("stream_first", &ProgramForm::stream_first),
    field::safe("rounds", &ProgramForm::rounds), field::safe("attempts", &ProgramForm::attempts),
    field::safe("seconds", &ProgramForm::seconds), field::safe("limit", &ProgramForm::limit));

template <>
inline constexpr auto fields<Proof> = described<Proof>(
    field::safe("kind", &Proof::kind), field::safe("arm", &Proof::arm),
    field::text("what", &Proof::what), field::safe("k", &Proof::k), field::safe("n", &Proof::n),
    field::safe("seconds", &Proof::seconds), field::safe("held", &Proof::held),
    field::part("program", &Proof::program).if_any(), field::message("problem", &Proof::problem));

nlohmann::json to_json(const std::vector<Proof>& proofs) {
  return record_json::write<nlohmann::json>(proofs);
}

std::vector<Proof> read_proofs(const nlohmann::json& json) {
  std::vector<Proof> proofs;
  record_json::read(json, proofs);
  const auto between = [](int value, int least, int most) {
    return value >= least && value <= most;
  };
  for (const Proof& proof : proofs) {
    const bool counted = between(proof.k, 0, proof.n) && (!proof.held || proof.k == proof.n);
    const bool possible =
        !proof.program.has_value() ||
        (between(proof.program->rounds, 1, 1000) && between(proof.program->attempts, 1, 1000) &&
         between(proof.program->limit, 1, 3600));
    if (counted && possible) continue;
    throw InputError("proofs", "has numbers that cannot be", "Make it anew with `mpsprobe repro`");
  }
  return proofs;
}

}  // namespace mpsprobe
