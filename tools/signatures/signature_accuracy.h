#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/signatures/corpus_case.h"

namespace mpsprobe {

/// How well signatures tell bugs apart on a corpus in which a person named the bugs.
struct SignatureAccuracy {
  size_t failures = 0;
  size_t bugs = 0;
  size_t same_pairs = 0;       ///< pairs of failures of one bug
  size_t joined = 0;           ///< of these, how many have the same signature
  size_t different_pairs = 0;  ///< pairs of failures of different bugs
  size_t apart = 0;            ///< of these, how many have different signatures
  size_t missed = 0;           ///< failures that were judged no failure
  size_t negatives = 0;
  size_t negatives_passed = 0;     ///< judged no failure, had the process left with 0
  size_t negatives_silent = 0;     ///< the text alone tells of no failure either
  std::vector<std::string> wrong;  ///< one line for each pair or case that is wrong

  double joined_share() const { return share(joined, same_pairs); }
  double apart_share() const { return share(apart, different_pairs); }
  /// 1 where there is nothing to count.
  static double share(size_t part, size_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// Judges every case and compares every pair: quadratic in the cases. A failure that is judged none
/// counts as joined with nothing.
SignatureAccuracy measure_signatures(const std::vector<CorpusCase>& cases);

/// All files *.txt of a folder, in order of their names. Throws InputError for one that is not of
/// the corpus's form, or where the folder cannot be read.
std::vector<CorpusCase> read_corpus(const std::filesystem::path& folder);

/// The figures in a few lines, and with `wrong` every wrong pair.
std::string describe(const SignatureAccuracy& accuracy, bool wrong);

}  // namespace mpsprobe
