#include "harness/journal/trial_json.h"

#include <fmt/format.h>

#include <charconv>

#include "harness/journal/record_json.h"

namespace mpsprobe {

using nlohmann::json;

std::string to_hex(uint64_t value) {
  return fmt::format("{:#x}", value);
}

uint64_t from_hex(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const bool prefixed = text.starts_with("0x") && text.size() > 2;
  const auto [stop, error] = prefixed
                                 ? std::from_chars(text.data() + 2, end, value, 16)
                                 : std::from_chars_result{text.data(), std::errc::invalid_argument};
  if (error != std::errc() || stop != end) {
    throw InputError("address", "not a number in hexadecimal",
                     "The journal is damaged, or of another version of mpsprobe");
  }
  return value;
}

void refuse_word(const char* of) {
  throw InputError(of, "unknown word", "The journal is of another version of mpsprobe");
}

json trial_to_json(const TrialRecord& trial) {
  return record_to_json(trial);
}

TrialRecord trial_from_json(const json& object) {
  auto trial = value_from_json<TrialRecord>(object);
  // Whoever shows a trial looks its process up by this index.
  const auto count = static_cast<int>(trial.processes.size());
  if (trial.judged_process < 0 || (count > 0 && trial.judged_process >= count)) {
    throw InputError("judged_process", "no such process", "The journal is damaged");
  }
  return trial;
}

}  // namespace mpsprobe
