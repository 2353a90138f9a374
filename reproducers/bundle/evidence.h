#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/folder/folder.h"
#include "harness/journal/journal.h"
#include "reports/analysis/analysis.h"
#include "reproducers/bundle/archive.h"
#include "reproducers/bundle/redaction/redactor.h"
#include "reproducers/emit/emission.h"
#include "reproducers/minimise/minimum.h"
#include "reproducers/proof/proof.h"

namespace mpsprobe {

struct BundleFinding;

/// A run as it may be handed on: everything in it is redacted, and everything derived from it with
/// it.
struct Evidence {
  std::filesystem::path folder;
  Journal journal;
  Analysis analysis;
  /// Titles as they were measured, for --signature and for the name of the folder of `repro`, and
  /// as they are here.
  std::map<std::string, std::string> titles;
  bool own_code = false;            ///< its operations are somebody's functions, tests or command
  std::vector<std::string> output;  ///< what processes printed and is in it as it was
};

/// A program of somebody's own Python code, with their file beside it, as `mpsprobe repro` wrote
/// it.
struct OwnProgram {
  std::string operation;           ///< the function's name
  std::vector<EmittedFile> files;  ///< the program first
};
/// By the title of the failure, as it was measured.
using OwnPrograms = std::map<std::string, OwnProgram>;

/// What is known of a signature beyond the run itself.
struct Reproduction {
  std::optional<Minimum> minimum;  ///< redacted
  std::vector<Emission> programs;  ///< of what is redacted
  std::vector<Proof> proofs;       ///< redacted
  bool minimised = false;          ///< the programs are of the minimal cell
  Cell cell;                       ///< that the programs are of
  std::vector<std::string> not_taken;
  bool needs_code = false;  ///< the operation is code of the user's own, which was not packed
};

/// The folder that `report` stands for: itself, or the one that holds the file. Throws InputError.
std::filesystem::path folder_of_run(const std::filesystem::path& report);

/// Whether `mpsprobe repro` has reduced the failure of this title, as it was measured.
bool has_reproduction(const Evidence& evidence, const std::string& raw_title);

/// The programs of own Python code in the run's folder. Nothing of them is redacted.
OwnPrograms read_own_code(const std::filesystem::path& folder);

/// Reads the run in `folder` and redacts it, what processes printed excepted where `with_output`
/// says so. Throws InputError, JournalError.
Evidence read_evidence(const std::filesystem::path& folder, Redactor& redactor, bool with_output);

/// Reads what `mpsprobe repro` made of a failure, and emits programs of the minimal cell, or of the
/// cell that failed with the fewest threads, with the title as it is here and the rate at which
/// that did. `programs` as of EmissionRequest; empty: none are made. Of own code the program is the
/// one of `code`, or there is none. What is of another signature, another worker's build, changed
/// since, or cannot be read, is not taken, and said.
Reproduction read_reproduction(const BundleFinding& finding, const std::filesystem::path& programs,
                               const OwnPrograms& code, Redactor& redactor);

}  // namespace mpsprobe
