#pragma once

#include <atomic>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/wire/cell.h"
#include "reproducers/emit/emission.h"

namespace mpsprobe {

/// What became of one emitted program when it was tried before it was handed out. One of these for
/// each program and arm; where something could not be tried there is one as well, with the reason.
struct Proof {
  Kind kind = Kind::mpsprobe;
  std::string arm;      ///< "build", "text", "failing", "clean", "cross-build"
  std::string what;     ///< what was done, in words for people
  std::string command;  ///< as for a shell, without the environment; empty where nothing was run
  /// Of the last run; none where a signal ended it or nothing was run.
  std::optional<int> exit_code;
  int expected_exit_code = 0;
  /// Runs that ended as expected, of those that were made.
  int k = 0;
  int n = 0;
  double seconds = 0;  ///< of all runs together
  bool held = false;   ///< it was tried, and every run ended as expected
  /// Why it could not be tried, or, where it was tried and did not hold, what it said at its end.
  std::string problem;

  /// Whether it was tried at all. `!tried()` is neither good nor bad news, and never to be hidden.
  bool tried() const { return n > 0; }
};

/// What to prove, and with what.
struct ProofRequest {
  Cell cell;
  bool simulated = false;           ///< the failing trials ran on the simulated device
  std::vector<Emission> emissions;  ///< from `emit`
  /// Folder to build in: made where missing, and left with what was built. Absolute.
  std::filesystem::path work;
  /// `data_folder()`: holds profiles/, and the headers that stand in for Apple's.
  std::filesystem::path data;
  /// Folder with libmpsprobe_sim, _stand_in and _metal_face: ../lib from the runner's.
  std::filesystem::path libraries;
  /// The libtorch_cpu or libmlx that the worker of the failing trials loaded, from its provenance;
  /// empty where that is not known.
  std::filesystem::path library;
  /// The interpreter of a Python worker of those trials, which runs what is of own code; else
  /// empty.
  std::string interpreter;
  std::vector<std::string> environment;  ///< K=V of those trials, which a program of own code gets
  int runs = 1;                ///< of each program and arm, each with --runs as the program has it
  double build_seconds = 180;  ///< limit of one build
  double run_seconds = 300;    ///< limit of one run of a program
  /// Set from elsewhere to stop: what has not been tried by then is said to be so. May be null.
  const std::atomic<bool>* interrupted = nullptr;
};

/// Builds and runs every program of the request but the cell itself, here and now: what may take
/// minutes. For a cell that was simulated, with the simulated device under it and the cell's
/// profile (must fail) and with a device without defects (must pass); for a cell of a real backend
/// as it is. Programs run as processes of their own under a limit; whatever they do, this does not
/// throw for it. Throws std::filesystem::filesystem_error where `work` cannot be made. One call at
/// a time per folder.
std::vector<Proof> prove(const ProofRequest& request);

/// To and from JSON: an array of objects, in order. `read_proofs` throws InputError (place = the
/// element) for what is no such array.
nlohmann::json to_json(const std::vector<Proof>& proofs);
std::vector<Proof> read_proofs(const nlohmann::json& json);

}  // namespace mpsprobe
