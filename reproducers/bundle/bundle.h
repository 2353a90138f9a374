#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reproducers/bundle/pages/finding.h"

namespace mpsprobe {

struct BundleOptions {
  std::optional<std::string> signature;  ///< exact title, or a part that only one has
  std::filesystem::path out;             ///< folder in which bundles are made; empty: the run's
  bool allow_simulated = false;
  bool for_pytorch = false;  ///< whose own MPS code is evidence over a simulated Metal too
  bool redact = true;
  std::vector<std::string> redact_strings;  ///< --redact: what else must not be in it
  std::vector<std::filesystem::path> own;   ///< mpsprobe's own programs and matrices
  std::filesystem::path programs;           ///< as of EmissionRequest; empty: none are made
  /// issue.md for whom it is written; where it is empty, for Apple.
  std::function<std::string(const BundleFinding&)> issue;
  /// --with-code: shows the programs of one's own Python code, their files included, and says
  /// whether they may be packed as they are.
  std::function<bool(const std::vector<EmittedFile>&)> show_code;
  /// --with-output: shows all that processes printed, and says whether it may be packed as it is.
  std::function<bool(const std::vector<std::string>&)> show_output;
};

/// One bundle as it was put in place.
struct WrittenBundle {
  std::string signature;            ///< redacted
  std::vector<std::string> others;  ///< signatures that it stands for as well
  std::filesystem::path folder;
  std::filesystem::path archive;  ///< beside it
  size_t files = 0;
  std::vector<std::string> unverified;  ///< sentences: also README.md's first lines
  size_t lines_left_out = 0;            ///< of output, in the whole run
  size_t texts_left_out = 0;            ///< parts of other texts, in the whole run
};

/// Bytes of a whole bundle: what its parts are bounded to, all together.
constexpr size_t kMostBundle = size_t{64} << 20;

/// Makes a bundle for each signature that failed in the run that `report` (its folder, or a file in
/// it) stands for, or for the one that is asked for: a folder and a ZIP archive. Of signatures that
/// were seen in the same operations, or in operations of one group, one has a bundle, which lists
/// the others: one that `mpsprobe repro` made programs of, else the most widespread. Both appear
/// whole or not at all; what is there already is never overwritten. Deterministic: the same run,
/// options and machine give the same bytes. Nothing outside of `out` is written, nothing outside of
/// the run's folder is read.
///
/// Throws InputError (no such run or signature, nothing failed, simulated without leave, there
/// already, a word of --redact that every bundle is written in), AuditError, ArchiveError,
/// JournalError, and std::filesystem::filesystem_error where the disk fails.
std::vector<WrittenBundle> write_bundles(const std::filesystem::path& report,
                                         const BundleOptions& options);

/// "HASH  PATH" a line, sorted by path, as `shasum -c` reads it; a comment before it where marked.
std::string manifest_of(std::vector<BundleFile> files, const std::string& watermark);

}  // namespace mpsprobe
