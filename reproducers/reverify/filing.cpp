#include "reproducers/reverify/filing.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiling = 200;
constexpr size_t kMostVerdictBytes = size_t{4} << 20;

/// The first bytes of a plain file; nothing where it is none. A link is not followed.
std::optional<std::string> read_plain(const fs::path& file, size_t most) {
  std::error_code error;
  if (fs::symlink_status(file, error).type() != fs::file_type::regular) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  std::string text(most + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return std::nullopt;
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() > most) return std::nullopt;
  return text;
}

bool is_filing(const std::string& number) {
  return !number.empty() && number.size() <= kMostFiling && number.front() != ' ' &&
         number.back() != ' ' &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

bool is_verdict_name(const fs::path& path) {
  return path.extension() == ".json";
}

/// The last by name, which begins with the time.
std::optional<VerdictLine> last_verdict(const fs::path& bundle) {
  const fs::path folder = bundle / kVerifiedFolder;
  std::error_code error;
  if (fs::symlink_status(folder, error).type() != fs::file_type::directory) return std::nullopt;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_verdict_name(at->path())) files.push_back(at->path());
    if (files.size() > kMostEntries) break;
  }
  std::sort(files.rbegin(), files.rend());
  for (const fs::path& file : files) {
    const auto text = read_plain(file, kMostVerdictBytes);
    if (!text.has_value()) continue;
    try {
      return read_verdict(*text, file.string());
    } catch (const InputError&) {
      continue;  // somebody else's file: the one before it may be ours
    }
  }
  return std::nullopt;
}

class Search {
 public:
  void look_into(const fs::path& folder, int depth) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(folder, error);
    if (error || !seen_.insert(real).second) return;
    if (fs::symlink_status(folder / kBundleRecordFile, error).type() == fs::file_type::regular) {
      take(folder);
      return;
    }
    std::vector<fs::path> below;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (++entries_ > kMostEntries) {
        found_.bounded = true;
        break;
      }
      std::error_code ignored;
      const bool hidden = at->path().filename().string().starts_with('.');
      if (!hidden && at->symlink_status(ignored).type() == fs::file_type::directory) {
        below.push_back(at->path());
      }
    }
    if (depth == 0) {
      found_.bounded = found_.bounded || !below.empty();
      return;
    }
    for (const fs::path& path : below) look_into(path, depth - 1);
  }

  FoundBundles found() && {
    std::sort(found_.bundles.begin(), found_.bundles.end(),
              [](const FoundBundle& a, const FoundBundle& b) { return a.folder < b.folder; });
    return std::move(found_);
  }

 private:
  void take(const fs::path& folder) {
    try {
      const BundleRecord record = read_bundle_record(folder);
      found_.bundles.push_back({folder, record.signature, record.simulated, record.paravirtual,
                                record.measured, noted_filing(folder), last_verdict(folder)});
    } catch (const InputError& error) {
      found_.skipped.push_back(error.place() + ": " + error.problem());
    }
  }

  FoundBundles found_;
  std::set<fs::path> seen_;
  size_t entries_ = 0;
};

}  // namespace

void check_filing(const std::string& number) {
  if (is_filing(number)) return;
  throw InputError("--filing", "\"" + shortened(printable(number), 60) + "\" is no filing number",
                   "Write what the tracker calls it, for example FB12345678");
}

void note_filing(const fs::path& bundle, const std::string& number) {
  check_filing(number);
  write_atomically(bundle / kFilingFile, number + "\n",
                   "or write the number into a file filing.txt in a copy of the bundle");
}

std::string noted_filing(const fs::path& bundle) {
  std::string text = read_plain(bundle / kFilingFile, 2 * kMostFiling).value_or("");
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  return is_filing(text) ? text : "";
}

fs::path keep_verification(const fs::path& bundle, const Verification& verification) {
  fs::path folder = bundle / kVerifiedFolder;
  std::error_code error;
  const fs::file_type type = fs::symlink_status(folder, error).type();
  if (type != fs::file_type::not_found && type != fs::file_type::directory) {
    throw ReportError(printable(folder.string()) +
                      ": is no folder of its own, so nothing is written there. Take it away");
  }
  // A journal says when it began, and may say anything: this is to be a name.
  std::string time = verification.started.substr(0, 32);
  for (char& c : time) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    if (!plain && c != '.') c = '-';
  }
  if (time.empty() || time.front() == '.') time.insert(0, "verify");
  fs::create_directory(folder, error);
  if (error) {
    throw ReportError(printable(folder.string()) + ": cannot be made: " + error.message() +
                      ". Copy the bundle to where it can be written");
  }
  write_atomically(folder / (time + ".json"), verification_json(verification));
  write_atomically(folder / (time + ".md"), verification_markdown(verification));
  return folder;
}

FoundBundles find_bundles(const std::vector<fs::path>& folders) {
  Search search;
  for (const fs::path& folder : folders) search.look_into(folder, kMostBundleDepth);
  return std::move(search).found();
}

}  // namespace mpsprobe
