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

/// Trials that were read from a journal once and stay in its file: where each begins is known, and
/// its record is read again when it is asked for. Reading is safe from several threads. What reads
/// throws JournalError where the file is no longer what it was.
class StoredTrials {
 public:
  explicit StoredTrials(std::filesystem::path file) : file_(std::move(file)) {}

  /// The next trial, whose line begins there.
  void add(uint64_t offset) { offsets_.push_back(offset); }
  /// What a later line says of a trial.
  void set_known_good(size_t index, KnownGood known_good);

  size_t size() const { return offsets_.size(); }
  TrialRecord at(size_t index) const;
  /// The trials in their order.
  void for_each(const std::function<void(const TrialRecord&)>& take) const;
  /// The same as JSON, as trial_to_json has it.
  void for_each_json(const std::function<void(std::string_view)>& take) const;

  /// Of the trials that have one in a line of its own, by index.
  const std::map<size_t, KnownGood>& known_goods() const { return known_goods_; }

 private:
  TrialRecord record_of(size_t index, const std::string& line) const;
  [[noreturn]] void fail() const;
  void for_each_line(const std::function<void(size_t, const std::string&)>& take) const;

  std::filesystem::path file_;
  std::vector<uint64_t> offsets_;
  std::map<size_t, KnownGood> known_goods_;
};

}  // namespace mpsprobe
