#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reproducers/bundle/bundle_record.h"
#include "reproducers/reverify/conclusion.h"

namespace mpsprobe {

/// The folder inside a bundle that keeps what later runs found: TIME.json and TIME.md for each. No
/// manifest lists it.
inline constexpr const char* kVerifiedFolder = "verified";

/// A bundle that was run again: what it is of, what came of it, and how it was done. Holds no path.
struct Verification {
  std::string mpsprobe_version;
  std::string started;   ///< UTC
  bool complete = true;  ///< every planned trial was run
  int trials = 0;        ///< of each cell and arm
  uint64_t seed = 0;
  bool simulated = false;
  bool paravirtual = false;
  BundleMachine machine;
  /// Variables that the bundle's run set and this one did not, by name.
  std::vector<std::string> not_set;
  BundleRecord record;
  std::vector<CellBeforeAndNow> cells;
  BundleConclusion conclusion;

  /// How the trials of both arms came about: a run that was cut short may have been so by looking.
  Sampling sampling() const { return complete ? Sampling::fixed : Sampling::looking; }
};

/// For programs: {"mpsprobe_verify": 1, "finding": "fixed", ...}, ASCII, indented; documented in
/// docs/filing.md. The same verification gives the same bytes. Pure.
std::string verification_json(const Verification& verification);

/// For people: GitHub-flavoured Markdown. Whatever came from a bundle or a worker is escaped. Pure.
std::string verification_markdown(const Verification& verification);

/// For a terminal: printable text, lines as wide as its table. Pure.
std::string verification_terminal(const Verification& verification);

/// What `verification_json` says at its top.
struct VerdictLine {
  std::string verified;  ///< UTC
  std::string words;     ///< "fixed", "inconclusive: ..."
};

/// Reads that from a file's bytes, of anywhere. Throws InputError (place given) where they are
/// none.
VerdictLine read_verdict(const std::string& text, const std::string& place);

}  // namespace mpsprobe
