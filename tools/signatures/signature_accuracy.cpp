#include "tools/signatures/signature_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "harness/input/input_error.h"
#include "harness/outcome/judge.h"
#include "harness/outcome/printed_failures.h"
#include "harness/outcome/reported.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {
namespace {

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

}  // namespace

SignatureAccuracy measure_signatures(const std::vector<CorpusCase>& cases) {
  SignatureAccuracy accuracy;
  std::vector<Judged> judged;
  std::set<std::string> bugs;
  for (const CorpusCase& corpus : cases) {
    const Judgement judgement = judge_on_path(corpus.process, corpus.path);
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

}  // namespace mpsprobe
