#include "harness/outcome/race_evidence.h"

#include <utility>

#include "harness/signature/plain_text.h"
#include "harness/signature/race_report.h"

namespace mpsprobe {
namespace {

constexpr size_t kLongestReport = size_t{256} << 10;

int rank(const Finding& race) {
  if (race.title.ends_with(kInOwnCode)) return 2;
  return race.title.ends_with(kInTeardown) ? 1 : 0;
}

}  // namespace

const Finding* titling_race(const std::vector<Finding>& findings) {
  const Finding* best = nullptr;
  for (const Finding& finding : findings) {
    if (finding.text_class != TextClass::data_race) continue;
    if (best == nullptr || rank(finding) < rank(*best)) best = &finding;
  }
  return best;
}

RaceEvidence race_evidence(std::string_view printed) {
  RaceEvidence evidence;
  // Most processes print none, and to look for all that a rule knows takes long.
  constexpr std::string_view kSanitizer = "Sanitizer: ";
  if (printed.find(kSanitizer) == std::string_view::npos) return evidence;
  const std::vector<Finding> findings = find_failures(printed);
  const Finding* told = titling_race(findings);
  for (size_t i = 0; told == nullptr && i < findings.size(); ++i) {
    if (findings[i].title.find(kSanitizer) != std::string::npos) told = &findings[i];
  }
  if (told == nullptr) return evidence;
  const std::string plain =
      plain_text(printed.substr(told->offset, kLongestReport), kLongestReport).text;
  RaceReport report = read_race_report(plain);
  for (ThreadStack& side : report.sides) {
    for (StackFrame& frame : side.frames) {
      frame.source.erase(0, frame.source.rfind('/') + 1);  // npos + 1 is 0
    }
  }
  evidence.sides = std::move(report.sides);
  evidence.text = plain.substr(0, report.length);
  return evidence;
}

}  // namespace mpsprobe
