// A journal from elsewhere, damaged or written to do harm: it is read or refused with JournalError.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/journal/journal.h"
#include "harness/journal/trial_json.h"

using namespace mpsprobe;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("journal_fuzz." + std::to_string(getpid()));
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  try {
    const Journal journal = read_journal(file);
    for (const TrialRecord& trial : journal.trials) {
      // What was read is written as the same again.
      const nlohmann::json written = trial_to_json(trial);
      if (trial_to_json(trial_from_json(written)) != written) std::abort();
    }
  } catch (const JournalError&) {
  }
  std::filesystem::remove(file);
  return 0;
}
