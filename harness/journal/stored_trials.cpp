#include "harness/journal/stored_trials.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/journal/journal.h"
#include "harness/journal/journal_line.h"
#include "harness/journal/trial_json.h"
#include "harness/wire/input_error.h"

namespace mpsprobe {

void StoredTrials::set_known_good(size_t index, KnownGood known_good) {
  known_goods_[index] = std::move(known_good);
}

TrialRecord StoredTrials::at(size_t index) const {
  std::ifstream stream(file_, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offsets_.at(index)));
  std::string line;
  if (!std::getline(stream, line)) fail();
  return record_of(index, line);
}

void StoredTrials::for_each(const std::function<void(const TrialRecord&)>& take) const {
  for_each_line([&](size_t index, const std::string& line) { take(record_of(index, line)); });
}

void StoredTrials::for_each_json(const std::function<void(std::string_view)>& take) const {
  for_each_line([&](size_t index, const std::string& line) {
    const std::string_view sealed = sealed_value(line, "trial");
    if (!sealed.empty() && !known_goods_.contains(index)) {
      take(sealed);
    } else {
      take(trial_to_json(record_of(index, line)).dump());
    }
  });
}

TrialRecord StoredTrials::record_of(size_t index, const std::string& line) const {
  try {
    TrialRecord trial = trial_from_json(nlohmann::json::parse(line).at("trial"));
    const auto known_good = known_goods_.find(index);
    if (known_good != known_goods_.end()) trial.known_good = known_good->second;
    return trial;
  } catch (const nlohmann::json::exception&) {
    fail();
  } catch (const InputError&) {
    fail();
  }
}

void StoredTrials::fail() const {
  throw JournalError(file_.string() + ": it was changed while it was read. Give the command again");
}

void StoredTrials::for_each_line(
    const std::function<void(size_t, const std::string&)>& take) const {
  std::ifstream stream(file_, std::ios::binary);
  std::string line;
  uint64_t place = 0;
  for (size_t i = 0; i < offsets_.size(); ++i) {
    while (place <= offsets_[i]) {
      if (!std::getline(stream, line)) fail();
      place += line.size() + 1;
    }
    take(i, line);
  }
}

}  // namespace mpsprobe
