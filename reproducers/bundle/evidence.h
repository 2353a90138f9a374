#pragma once

#include <filesystem>
#include <functional>
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
#include "reproducers/minimise/minimum.h"

namespace mpsprobe {

/// What became of one emitted program in one arm, in words (reproducers/proof).
struct ProofLine {
  std::string program;  ///< "metal", "libtorch", "python", "mpsprobe"
  std::string arm;
  std::string what;
  std::string command;
  std::string problem;  ///< why it could not be tried or did not hold
  int k = 0;
  int n = 0;  ///< 0: it could not be tried
  bool held = false;
};

/// A program that shows the failure, or why there is none of its kind.
struct Program {
  std::string kind;
  std::vector<BundleFile> files;
  std::string build;
  std::string run;
  std::vector<std::string> not_expressed;
  std::string why_not;
};

/// How the parts that other rooms own are read and made. Each may be empty: then there is nothing.
struct ProgramSource {
  /// Reads proofs.json. May throw InputError.
  std::function<std::vector<ProofLine>(const nlohmann::json&)> read_proofs;
  /// Programs for a cell that was not minimised. May throw InputError.
  /// `rate`: failures per trial as measured.
  std::function<std::vector<Program>(const Cell&, const std::string& signature,
                                     const std::string& watermark, double rate)>
      emit;
};

/// A run as it may be handed on: everything in it is redacted, and everything derived from it with
/// it.
struct Evidence {
  std::filesystem::path folder;
  Journal journal;
  Analysis analysis;
  /// Titles as they were measured, for --signature and for the name of the folder of `repro`, and
  /// as they are here.
  std::map<std::string, std::string> titles;
  std::vector<std::string> output;  ///< what processes printed and is in it as it was
};

/// What is known of a signature beyond the run itself.
struct Reproduction {
  std::optional<Minimum> minimum;  ///< redacted
  std::vector<Program> programs;   ///< redacted
  std::vector<ProofLine> proofs;   ///< redacted
  bool minimised = false;          ///< the programs are of the minimal cell
  Cell cell;                       ///< that the programs are of
  std::vector<std::string> not_taken;
};

/// The folder that `report` stands for: itself, or the one that holds the file. Throws InputError.
std::filesystem::path folder_of_run(const std::filesystem::path& report);

/// Reads the run in `folder` and redacts it, what processes printed excepted where `with_output`
/// says so. Throws InputError, JournalError.
Evidence read_evidence(const std::filesystem::path& folder, Redactor& redactor, bool with_output);

/// Reads what `mpsprobe repro` made of the signature (its title as measured), or emits programs for
/// `smallest`, the cell that failed with the fewest threads, with the title as it is here and the
/// rate at which it did. What is of another signature, another worker's build, changed since, or
/// cannot be read, is not taken, and said.
Reproduction read_reproduction(const Evidence& evidence, const std::string& raw_title,
                               const Cell& smallest, const std::string& title, double rate,
                               const ProgramSource& source, const std::string& watermark,
                               Redactor& redactor);

}  // namespace mpsprobe
