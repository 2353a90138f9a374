#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/matrix/selector.h"
#include "harness/record/process_record.h"
#include "harness/statistics/fisher.h"
#include "reports/expectations/version_range.h"

namespace mpsprobe {

/// Where a failure is known. Texts are shell patterns; what is empty may be anything.
struct KnownWhere {
  std::vector<std::string> cells;  ///< one of them matches the cell's text
  Selector axes;
  std::string matrix;
  std::string worker;  ///< the arm's label
  std::string code;    ///< of somebody's own that the run names (own_code_in)
  std::string chip;
  std::string os;
  VersionRange os_build;
  std::string library;  ///< "LibTorch"
  VersionRange versions;
  bool simulated = false;           ///< a simulated device excuses no real one
  std::optional<bool> paravirtual;  ///< the GPU of a virtual Mac; nothing: either
};

/// A failure that is known, with what was seen of it.
struct KnownFailure {
  KnownWhere where;
  std::string signature;           ///< exactly; empty: `outcome` says what
  std::optional<Outcome> outcome;  ///< any signature with it, and without one any at all, that no
                                   ///< entry knows more exactly
  Proportion seen;                 ///< of all cells together; no trials: the rate is not known
  std::string last_seen;           ///< UTC: "2026-11-23", or with "T22:00:40Z"
  std::string until;               ///< what `seen` counts: runs that started up to then
  std::string issue;
  std::string review_by;  ///< a date
  std::string owner;
  bool recorded = false;  ///< in the block that the program writes
  std::string place;      ///< "expectations.json: known[3]"
  nlohmann::json source;  ///< as it stands there
};

/// Reads a file of known failures, first those that people wrote, then those that were recorded.
/// `place` names the source in errors. Throws InputError for anything that is not exactly of the
/// format (docs/expectations.md), and for an entry that is
/// there twice.
std::vector<KnownFailure> parse_expectations(const std::string& text, const std::string& place);

/// Where and what an entry is of, as text: two entries with the same one are one. Pure.
std::string identity_of(const KnownFailure& known);

/// The text of a file of known failures. Throws InputError where it cannot be read.
std::string read_expectations_file(const std::filesystem::path& file);

}  // namespace mpsprobe
