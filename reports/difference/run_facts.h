#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/record/process_record.h"
#include "harness/wire/cell.h"
#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What one cell of a run came to, as far as runs are compared by it.
struct CellFacts {
  Cell cell;
  int planned = 0;
  int counted = 0;
  int failures = 0;
  int refused = 0;  ///< beside the counted ones
  bool simulated = false;
  bool paravirtual = false;           ///< told by a journal alone
  bool unexpected = false;            ///< the matrix expected something else
  std::map<std::string, int> titles;  ///< failures by signature
};

/// A worker of a run: which library it really loaded, and on which devices.
struct ArmFacts {
  std::string library;  ///< "LibTorch 2.15.0, 0a1b2c3d, build id aa11": all that tells builds apart
  std::string devices;
  std::string library_name;           ///< "LibTorch"
  std::string version;                ///< "2.15.0"
  std::vector<std::string> packages;  ///< of Python that it had loaded, "numpy 2.1.0"
};

/// A run as far as it is compared with another.
struct RunFacts {
  std::string name;     ///< as the user called it
  std::string started;  ///< UTC
  std::string matrix;
  std::string code;  ///< of somebody's own that its cells run (own_code_in); else empty
  nlohmann::json machine;
  bool simulated = false;
  Sampling sampling = Sampling::fixed;
  int planned = 0;
  int undone = 0;                        ///< planned trials without an answer
  std::map<std::string, ArmFacts> arms;  ///< by label
  std::map<std::pair<std::string, std::string>, CellFacts> cells;  ///< by arm and cell
  std::map<std::string, Outcome> outcomes;  ///< of each signature; told by a journal alone
};

/// A fact of the machine that is a text ("chip"); "" where it is not told. Pure.
std::string machine_fact(const RunFacts& run, const char* key);

/// Pure.
RunFacts run_facts(const std::string& name, const Analysis& analysis);

/// From a report.json. Throws InputError, naming `name`, for what is no such report.
RunFacts run_facts(const std::string& name, const nlohmann::json& report);

}  // namespace mpsprobe
