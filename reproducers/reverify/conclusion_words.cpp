#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "reports/claims/rate_claim.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reproducers/reverify/conclusion.h"

namespace mpsprobe {
namespace {

std::string k_of_n(const Proportion& proportion) {
  return fmt::format("{}/{}", proportion.failures, proportion.trials);
}

std::string trials_text(const std::optional<int>& trials) {
  return trials.has_value() ? mpsprobe::counted(*trials, "more trials") + " on each side"
                            : "more than a million more trials on each side";
}

/// For people, in the order of the enum.
constexpr std::array<std::string_view, kWordsOf<Reason>.size()> kReasonWords{
    "too few trials",
    "no trial came to a result that counts",
    "the old arm was not run again",
    "the old arm did not fail in this run",
    "the old arm failed in another way",
    "it is the bundle's own build that does not fail now",
    "which build ran is not proved",
    "it ran on another device than the bundle's",
    "no two threads met",
    "the operation took another path",
    "no numbers were compared",
    "a control failed"};

std::string short_words(Reason reason) {
  return std::string(kReasonWords[static_cast<size_t>(reason)]);
}

/// What else the counts of the cell say of a reason.
std::string more_words(const CellBeforeAndNow& cell, Reason reason) {
  if (reason == Reason::old_arm_failed_otherwise) return " (" + cell.old_arm->other_signature + ")";
  if (reason != Reason::other_device) return "";
  const std::optional<ArmNow>& arm = cell.new_arm.has_value() ? cell.new_arm : cell.old_arm;
  return fmt::format(" ({}, and now {})", fmt::join(cell.devices_before, ", "),
                     fmt::join(arm->devices, ", "));
}

}  // namespace

std::string words_of(RecheckFinding finding) {
  std::string words(name_of(finding));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string in_words(const BundleConclusion& conclusion) {
  switch (conclusion.finding) {
    case RecheckFinding::still_fails:
      return "still fails";
    case RecheckFinding::fails_otherwise:
      return "fails otherwise: " + conclusion.other_signature;
    case RecheckFinding::fixed:
      return "fixed";
    default:
      break;
  }
  std::string text = "inconclusive";
  const char* separator = ": ";
  for (Reason reason : conclusion.reasons) {
    text += separator;
    text += reason == Reason::too_few_trials ? trials_text(conclusion.trials_needed)
                                             : short_words(reason);
    separator = "; ";
  }
  return text;
}

std::string in_words(const CellBeforeAndNow& cell, const CellConclusion& conclusion) {
  switch (conclusion.finding) {
    case RecheckFinding::still_fails:
      return "fails with the same signature";
    case RecheckFinding::fails_otherwise: {
      const std::optional<ArmNow>& arm = cell.new_arm.has_value() ? cell.new_arm : cell.old_arm;
      return "fails with another signature: " + arm->other_signature;
    }
    case RecheckFinding::as_before:
      return "as before";
    case RecheckFinding::fixed:
      return fmt::format(
          "fixed: the old arm failed again in this run ({}), the new one did not ({}), {}",
          k_of_n(cell.old_arm->same), k_of_n(cell.new_arm->same),
          p_in_words(*conclusion.corrected_p_arms));
    case RecheckFinding::inconclusive:
      break;
  }
  std::string text = "inconclusive";
  const char* separator = ": ";
  for (Reason reason : conclusion.reasons) {
    text += separator + short_words(reason) + more_words(cell, reason);
    separator = "; ";
  }
  const bool any_counted = std::find(conclusion.reasons.begin(), conclusion.reasons.end(),
                                     Reason::nothing_counted) == conclusion.reasons.end();
  if (any_counted) {
    text +=
        fmt::format(". A new run that tells takes {} at the rate seen",
                    conclusion.trials_needed.has_value()
                        ? mpsprobe::counted(*conclusion.trials_needed, "trials") + " on each side"
                        : "more than a million trials on each side");
  }
  return text;
}

}  // namespace mpsprobe
