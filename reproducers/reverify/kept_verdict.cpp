#include "harness/folder/folder.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "reproducers/reverify/verdict.h"

namespace mpsprobe {

namespace fs = std::filesystem;

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
