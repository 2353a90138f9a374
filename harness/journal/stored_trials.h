#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/trial.h"

namespace mpsprobe {

/// Trials that were read from journals once and stay in the files: where each begins is known, and
/// its record is read again when it is asked for. Reading is safe from several threads. What reads
/// throws JournalError where a file is no longer what it was.
class StoredTrials {
 public:
  /// The next trial, whose line begins there in that file.
  void add(const std::filesystem::path& file, uint64_t offset);
  /// The next trial, which is one of these.
  void add(const StoredTrials& others, size_t index);
  /// What a later line says of a trial.
  void set_known_good(size_t index, KnownGood known_good);

  size_t size() const { return places_.size(); }
  TrialRecord at(size_t index) const;
  /// The trials in their order.
  void for_each(const std::function<void(const TrialRecord&)>& take) const;
  /// The same as JSON, as trial_to_json has it.
  void for_each_json(const std::function<void(std::string_view)>& take) const;

  /// Of the trials that have one in a line of its own, by index.
  const std::map<size_t, KnownGood>& known_goods() const { return known_goods_; }

 private:
  struct Place {
    uint64_t offset = 0;
    uint32_t file = 0;
  };
  class Lines;

  uint32_t number_of(const std::filesystem::path& file);
  TrialRecord record_of(size_t index, const std::string& line) const;

  std::vector<std::filesystem::path> files_;
  std::map<std::string, uint32_t> numbers_;  ///< of the files
  std::vector<Place> places_;
  std::map<size_t, KnownGood> known_goods_;
};

}  // namespace mpsprobe
