#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reproducers/emit/emission.h"

namespace mpsprobe {

/// What was done with a program.
enum class ProofArm : uint8_t {
  build,    ///< compiled
  rate,     ///< attempts of its best form, a process each: k failed
  alone,    ///< attempts with one thread: k passed
  clean,    ///< run as handed out, on the simulated device without a defect
  failing,  ///< run as handed out
};

template <>
inline constexpr auto kWordsOf<ProofArm> =
    std::to_array<std::string_view>({"build", "rate", "alone", "clean", "failing"});

/// What became of one emitted program when it was tried before it was handed out. One of these for
/// each program and arm; where something could not be tried there is one as well, with the reason.
struct Proof {
  Kind kind = Kind::metal;
  ProofArm arm = ProofArm::build;
  std::string what;  ///< what was done, in words for people
  /// Runs that ended as expected, of those that were made.
  int k = 0;
  int n = 0;
  double seconds = 0;                  ///< of all runs together
  bool held = false;                   ///< it was tried, and every run ended as expected
  std::optional<ProgramForm> program;  ///< of the arm `rate`, where any failed: as handed out
  /// Why it could not be tried, or, where it was tried and did not hold, what it said at its end.
  std::string problem;

  /// Whether it was tried at all. `!tried()` is neither good nor bad news, and never to be hidden.
  bool tried() const { return n > 0; }
};

/// What to prove, and with what.
struct ProofRequest {
  EmissionRequest what;          ///< its attempts, seconds and form are found here
  std::vector<Kind> kinds = {};  ///< only these; empty: each that there is
  bool simulated = false;        ///< the failing trials ran on the simulated device
  /// Folder to build in: made where missing, and left with what was built. Absolute.
  std::filesystem::path work;
  /// `data_folder()`: holds profiles/, and the headers that stand in for Apple's.
  std::filesystem::path data;
  /// Folder with libmpsprobe_sim, _stand_in and _metal_face: ../lib from the runner's.
  std::filesystem::path libraries;
  /// The libtorch_cpu or libmlx that the worker of the failing trials loaded, from its provenance;
  /// empty where that is not known. And its version.
  std::filesystem::path library;
  std::string version;
  /// The interpreter of a Python worker of those trials, which runs what is of own code; else
  /// empty.
  std::string interpreter;
  std::vector<std::string> environment;  ///< K=V of those trials, which a program of own code gets
  double build_seconds = 180;            ///< limit of one build
  double run_seconds = 300;              ///< limit of one run of a program
  /// Set from elsewhere to stop: what has not been tried by then is said to be so. May be null.
  const std::atomic<bool>* interrupted = nullptr;
  /// Is told of each when it is known. May be null.
  std::function<void(const Proof&)> on_proof = {};
};

/// The programs as they are handed out, and what became of each.
struct Proved {
  std::vector<Emission> emissions;
  std::vector<Proof> proofs;
};

/// Builds and runs every program of the request, here and now: what may take minutes. Of each it
/// tries the forms that matter, one attempt a process, keeps the one that fails most often (the arm
/// `rate`: k of n attempts failed), and lets it make as many attempts as show a failure with 99% at
/// half the lower end of that rate's 95% interval. That program must then fail, and on a simulated
/// device pass without the defect. One that never failed is not handed out: `why_not` says so.
/// Programs run as processes of their own under a limit; whatever they do, this does not throw for
/// it. Throws std::filesystem::filesystem_error where `work` cannot be made. One call at a time per
/// folder.
Proved prove(const ProofRequest& request);

/// To and from JSON: an array of objects, in order. `read_proofs` throws InputError or
/// nlohmann::json::exception for what is no such array.
nlohmann::json to_json(const std::vector<Proof>& proofs);
std::vector<Proof> read_proofs(const nlohmann::json& json);

}  // namespace mpsprobe
