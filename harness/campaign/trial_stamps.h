#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>

#include "harness/record/trial.h"

namespace mpsprobe {

/// What a merge needs of one trial.
struct TrialStamp {
  std::string started;
  uint64_t sequence = 0;
  const std::string* worker = nullptr;
  const std::string* cell = nullptr;        ///< to_string(TrialRecord::cell)
  const std::string* provenance = nullptr;  ///< of the first process that gave one; "" for none
  int trial = 0;
  int attempt = 0;
  bool evidence = false;
};

/// The stamps of all trials of a journal, in its order. Not copied: they point into it.
class TrialStamps {
 public:
  TrialStamps() = default;
  TrialStamps(const TrialStamps&) = delete;
  TrialStamps& operator=(const TrialStamps&) = delete;

  void add(const TrialRecord& trial);
  size_t size() const { return stamps_.size(); }
  const TrialStamp& operator[](size_t index) const { return stamps_[index]; }

 private:
  std::deque<TrialStamp> stamps_;
  std::set<std::string> texts_;
};

}  // namespace mpsprobe
