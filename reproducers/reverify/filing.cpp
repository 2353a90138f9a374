#include "reproducers/reverify/filing.h"

#include <algorithm>

#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "reproducers/bundle/bundle_record.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiling = 200;

bool is_filing(const std::string& number) {
  return !number.empty() && number.size() <= kMostFiling && number.front() != ' ' &&
         number.back() != ' ' &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

void note_filing(const fs::path& bundle, const std::string& number) {
  if (!is_filing(number)) {
    throw InputError("--filing", "\"" + shortened(printable(number), 60) + "\" is no filing number",
                     "Write what the tracker calls it, for example FB12345678");
  }
  write_atomically(bundle / kFilingFile, number + "\n",
                   "or write the number into a file filing.txt in a copy of the bundle");
}

fs::path keep_verdict(const fs::path& bundle, const std::string& started, const std::string& json) {
  // A journal says when it began, and may say anything: this is to be a name.
  std::string time = "verify" + started.substr(0, 32);
  if (time.size() > 6 && time[6] >= '0' && time[6] <= '9') time.erase(0, 6);
  for (char& c : time) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!plain && c != '.') c = '-';
  }
  try {
    const Folder folder = Folder(bundle).make_below("verified");
    write_atomically(folder.path() / (time + ".json"), json);
    return folder.path();
  } catch (const fs::filesystem_error& error) {
    throw ReportError(printable(error.what()) + ". Copy the bundle to where it can be written");
  }
}

}  // namespace mpsprobe
