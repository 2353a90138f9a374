#include "tools/runner/expect/fail_on.h"

#include <algorithm>

namespace mpsprobe {

bool found_in(const Findings& findings, const std::set<std::string>& fail_on) {
  const auto any = [&findings](auto holds) {
    return std::any_of(findings.entries.begin(), findings.entries.end(), holds);
  };
  const auto stands = [&any](EntryStanding standing) {
    return any([standing](const JudgedEntry& judged) { return judged.standing == standing; });
  };
  const bool worse = fail_on.contains("worse");
  if ((worse || fail_on.contains("new")) && !findings.unknown.empty()) return true;
  if (worse && stands(EntryStanding::more_often)) return true;
  if (fail_on.contains("unseen") && stands(EntryStanding::unseen)) return true;
  return fail_on.contains("expired") &&
         any([](const JudgedEntry& judged) { return judged.expired; });
}

}  // namespace mpsprobe
