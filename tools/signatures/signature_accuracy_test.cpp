#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/outcome/judge.h"
#include "harness/outcome/printed_failures.h"
#include "harness/outcome/reported.h"
#include "harness/signature/find_failures.h"
#include "tools/signatures/corpus_case_for_tests.h"

namespace mpsprobe {
namespace {

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

struct Judged {
  const CorpusCase* corpus;
  std::string signature;  ///< "" where it was judged no failure
};

bool silent(const ProcessRecord& process) {
  const std::vector<Finding> findings = find_failures(process.err.text());
  return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return is_failure(outcome_of(finding.text_class));
  });
}

/// Judges every case and compares every pair: quadratic in the cases. A failure that is judged none
/// counts as joined with nothing.
SignatureAccuracy measure_signatures(const std::vector<CorpusCase>& cases) {
  SignatureAccuracy accuracy;
  std::vector<Judged> judged;
  std::set<std::string> bugs;
  for (const CorpusCase& corpus : cases) {
    const Judgement judgement = judge(corpus.process, corpus.path);
    if (corpus.negative) {
      ++accuracy.negatives;
      const bool passed = !is_failure(judgement.outcome);
      const bool quiet = silent(corpus.process);
      accuracy.negatives_passed += passed ? 1 : 0;
      accuracy.negatives_silent += quiet ? 1 : 0;
      if (!passed || !quiet) {
        const std::vector<Finding> findings = find_failures(corpus.process.err.text());
        accuracy.wrong.push_back(
            fmt::format("negative {}: {}", corpus.name,
                        findings.empty() ? judgement.signature : findings.front().title));
      }
      continue;
    }
    ++accuracy.failures;
    bugs.insert(corpus.bug);
    // What counts for a signature: a failure, or a set-up that failed, or one not supported.
    const bool found = judgement.outcome != Outcome::pass && !judgement.signature.empty();
    if (!found) {
      ++accuracy.missed;
      accuracy.wrong.push_back("missed " + corpus.name);
    }
    judged.push_back({&corpus, found ? judgement.signature : std::string()});
  }
  accuracy.bugs = bugs.size();
  for (size_t i = 0; i < judged.size(); ++i) {
    for (size_t k = i + 1; k < judged.size(); ++k) {
      const Judged& a = judged[i];
      const Judged& b = judged[k];
      const bool same_title = !a.signature.empty() && a.signature == b.signature;
      const bool same_bug = a.corpus->bug == b.corpus->bug;
      ++(same_bug ? accuracy.same_pairs : accuracy.different_pairs);
      if (same_bug && same_title) ++accuracy.joined;
      if (!same_bug && !same_title) ++accuracy.apart;
      if (same_bug != same_title) {
        accuracy.wrong.push_back(
            fmt::format("{} {} and {}: \"{}\", \"{}\"", same_bug ? "not joined" : "not kept apart",
                        a.corpus->name, b.corpus->name, a.signature, b.signature));
      }
    }
  }
  return accuracy;
}

/// All files *.txt of a folder, in order of their names. Throws InputError for one that is not of
/// the corpus's form, or where the folder cannot be read.
std::vector<CorpusCase> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  if (error) {
    throw InputError(folder.string(), error.message(), "Name a folder with the corpus's files");
  }
  std::sort(files.begin(), files.end());
  std::vector<CorpusCase> cases;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    cases.push_back(read_corpus_case(file.stem().string(), text, CaseText::pasted));
  }
  return cases;
}

/// The figures in a few lines, and with `wrong` every wrong pair.
std::string describe(const SignatureAccuracy& accuracy, bool wrong) {
  std::string text = fmt::format(
      "{} failures of {} bugs, {} negatives\n"
      "same bug joined:           {} of {} pairs, {:.1f}%\n"
      "different bugs kept apart: {} of {} pairs, {:.1f}%\n"
      "failures not found:        {}\n"
      "negatives judged no failure: {} of {}; whose text alone tells of none: {}\n",
      accuracy.failures, accuracy.bugs, accuracy.negatives, accuracy.joined, accuracy.same_pairs,
      100 * accuracy.joined_share(), accuracy.apart, accuracy.different_pairs,
      100 * accuracy.apart_share(), accuracy.missed, accuracy.negatives_passed, accuracy.negatives,
      accuracy.negatives_silent);
  if (wrong) {
    for (const std::string& line : accuracy.wrong) text += line + "\n";
  }
  return text;
}

// The bug's name in the files is a person's: titles must follow it, whatever an update wrote.
TEST(GoldenSignatures, JoinOneBugAndKeepOthersApart) {
  const SignatureAccuracy accuracy = measure_signatures(read_corpus(
      std::filesystem::path(MPSPROBE_SOURCE_DIR) / "harness/outcome/testdata/signatures"));
  EXPECT_THAT(accuracy.wrong, testing::IsEmpty()) << describe(accuracy, true);
  EXPECT_GE(accuracy.same_pairs, 20U);
  EXPECT_GE(accuracy.bugs, 25U);
}

TEST(SignatureAccuracy, CountsPairsAndNegatives) {
  const auto failure = [](const char* name, const char* bug, const char* function) {
    return read_corpus_case(name, std::string("bug: ") + bug +
                                      "\nkind: failure\nsignal: SIGSEGV\n\n--- text\n--- frames\n"
                                      "libx.so  " +
                                      function + " + 32\n");
  };
  const auto negative = [](const char* name, const std::string& text) {
    return read_corpus_case(name, "bug: none\nkind: negative\n\n--- text\n" + text);
  };
  const SignatureAccuracy accuracy = measure_signatures({
      failure("one", "a", "f(int)"),
      failure("two", "a", "f(long)"),
      failure("three", "a", "g()"),
      failure("four", "b", "g()"),
      negative("quiet", "all is well\n"),
      negative("loud", "free(): invalid pointer\n"),
      negative("error", "Caused GPU Hang Error (00000003)\n"),
  });
  EXPECT_EQ(accuracy.failures, 4U);
  EXPECT_EQ(accuracy.bugs, 2U);
  EXPECT_EQ(accuracy.same_pairs, 3U);
  EXPECT_EQ(accuracy.joined, 1U);
  EXPECT_EQ(accuracy.different_pairs, 3U);
  EXPECT_EQ(accuracy.apart, 2U);
  EXPECT_EQ(accuracy.negatives, 3U);
  EXPECT_EQ(accuracy.negatives_passed, 2U);
  EXPECT_EQ(accuracy.negatives_silent, 1U);
  EXPECT_THAT(accuracy.wrong, testing::SizeIs(5));
}

// For a corpus that lies elsewhere: MPSPROBE_SIGNATURE_CORPUS=folder prints its figures, and every
// wrong pair.
TEST(SignatureAccuracy, OfACorpusNamedInTheEnvironment) {
  const char* folder = std::getenv("MPSPROBE_SIGNATURE_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "MPSPROBE_SIGNATURE_CORPUS names no folder";
  const SignatureAccuracy accuracy = measure_signatures(read_corpus(folder));
  std::fputs(describe(accuracy, true).c_str(), stdout);
  EXPECT_GE(accuracy.joined_share(), 0.95);
  EXPECT_GE(accuracy.apart_share(), 0.99);
  EXPECT_EQ(accuracy.negatives_passed, accuracy.negatives);
}

}  // namespace
}  // namespace mpsprobe
