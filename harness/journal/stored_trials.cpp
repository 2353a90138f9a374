#include "harness/journal/stored_trials.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/input/json_text.h"
#include "harness/journal/journal.h"
#include "harness/journal/journal_line.h"
#include "harness/journal/trial_json.h"

namespace mpsprobe {
namespace {

[[noreturn]] void fail_changed(const std::filesystem::path& file) {
  throw JournalError(file.string() + ": it was changed while it was read. Give the command again");
}

}  // namespace

/// Lines of files, quickest where those of a file follow one another.
class StoredTrials::Lines {
 public:
  explicit Lines(const std::vector<std::filesystem::path>& files) : files_(files) {}

  const std::string& at(const Place& place) {
    constexpr size_t kMostOpen = 100;
    if (open_.size() >= kMostOpen && !open_.contains(place.file)) open_.clear();
    auto [file, fresh] = open_.try_emplace(place.file);
    Open& open = file->second;
    if (fresh) open.stream = open_plain_file(files_[place.file]);
    if (open.next != place.offset) open.stream.seekg(static_cast<std::streamoff>(place.offset));
    if (!read_line(open.stream, line_, kMostLineBytes)) fail_changed(files_[place.file]);
    open.next = place.offset + line_.size() + 1;
    return line_;
  }

 private:
  struct Open {
    std::ifstream stream;
    uint64_t next = 0;
  };

  const std::vector<std::filesystem::path>& files_;
  std::map<uint32_t, Open> open_;
  std::string line_;
};

void StoredTrials::add(const std::filesystem::path& file, uint64_t offset) {
  places_.push_back({offset, number_of(file)});
}

void StoredTrials::add(const StoredTrials& others, size_t index) {
  const auto known_good = others.known_goods_.find(index);
  if (known_good != others.known_goods_.end()) known_goods_[size()] = known_good->second;
  const Place& place = others.places_.at(index);
  add(others.files_[place.file], place.offset);
}

void StoredTrials::set_known_good(size_t index, KnownGood known_good) {
  known_goods_[index] = std::move(known_good);
}

TrialRecord StoredTrials::at(size_t index) const {
  return record_of(index, Lines(files_).at(places_.at(index)));
}

void StoredTrials::for_each(const std::function<void(const TrialRecord&)>& take) const {
  Lines lines(files_);
  for (size_t i = 0; i < size(); ++i) take(record_of(i, lines.at(places_[i])));
}

void StoredTrials::for_each_json(const std::function<void(std::string_view)>& take) const {
  Lines lines(files_);
  for (size_t i = 0; i < size(); ++i) {
    const std::string& line = lines.at(places_[i]);
    const std::string_view sealed = sealed_value(line, "trial");
    // Of a text whose bytes were replaced, a record counts those that it has now.
    const bool replaced = sealed.find("\xef\xbf\xbd") != std::string_view::npos;
    if (!sealed.empty() && !replaced && !known_goods_.contains(i)) {
      take(sealed);
    } else {
      take(json_text(trial_to_json(record_of(i, line))));
    }
  }
}

uint32_t StoredTrials::number_of(const std::filesystem::path& file) {
  const auto [at, fresh] =
      numbers_.try_emplace(file.native(), static_cast<uint32_t>(files_.size()));
  if (fresh) files_.push_back(file);
  return at->second;
}

TrialRecord StoredTrials::record_of(size_t index, const std::string& line) const {
  const std::filesystem::path& file = files_[places_[index].file];
  try {
    TrialRecord trial = trial_from_json(parsed_json(line).at("trial"));
    const auto known_good = known_goods_.find(index);
    if (known_good != known_goods_.end()) trial.known_good = known_good->second;
    return trial;
  } catch (const nlohmann::json::exception&) {
    fail_changed(file);
  } catch (const InputError&) {
    fail_changed(file);
  }
}

}  // namespace mpsprobe
