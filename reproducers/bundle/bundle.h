#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reproducers/bundle/pages/finding.h"
#include "reproducers/bundle/redaction/audit.h"
#include "reproducers/bundle/redaction/review.h"

namespace mpsprobe {

/// The audit found personal data in a finished bundle: it was not put in place. The message names
/// files and offsets, and not the data.
class AuditError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct BundleOptions {
  std::optional<std::string> signature;  ///< exact title, or a part that only one has
  std::filesystem::path out;             ///< folder in which bundles are made; empty: the run's
  bool allow_simulated = false;
  bool redact = true;
  bool with_output = false;  ///< all that processes printed, and not its known lines alone
  std::vector<std::string> redact_strings;  ///< --redact: what else must not be in it
  std::vector<PersonalString> of_machine;   ///< personal_strings_of_this_machine()
  ProgramSource programs;
  /// Further files for whom it is written: the text for PyTorch's tracker. May be empty.
  std::function<std::vector<BundleFile>(const BundleFinding&)> further;
};

/// One bundle as it was put in place.
struct WrittenBundle {
  std::string signature;  ///< redacted
  std::filesystem::path folder;
  std::filesystem::path archive;  ///< beside it
  size_t files = 0;
  std::vector<std::string> unverified;  ///< sentences: also README.md's first lines
  size_t lines_left_out = 0;            ///< of output, in the whole run
  size_t replaced = 0;                  ///< how often personal data were replaced, in the whole run
  std::vector<LooksPersonal> looks_personal;  ///< for a person to look at before it is sent
};

/// Bytes of a whole bundle: what its parts are bounded to, all together.
constexpr size_t kMostBundle = size_t{64} << 20;

/// Makes a bundle for each signature that failed in the run that `report` (its folder, or a file in
/// it) stands for, or for the one that is asked for: a folder and a ZIP archive. Both appear whole
/// or not at all; what is there already is never overwritten. Deterministic: the same run, options
/// and machine give the same bytes. Nothing outside of `out` is written, nothing outside of the
/// run's folder is read.
///
/// Throws InputError (no such run or signature, nothing failed, simulated without leave, there
/// already, a word of --redact that every bundle is written in), AuditError, ArchiveError,
/// JournalError, and std::filesystem::filesystem_error where the disk fails.
std::vector<WrittenBundle> write_bundles(const std::filesystem::path& report,
                                         const BundleOptions& options);

/// The files of a bundle without README.md, redactions.md and MANIFEST.sha256, in no order.
std::vector<BundleFile> evidence_files(const BundleFinding& finding);

/// "HASH  PATH" a line, sorted by path, as `shasum -c` reads it; a comment before it where marked.
std::string manifest_of(std::vector<BundleFile> files, const std::string& watermark);

}  // namespace mpsprobe
