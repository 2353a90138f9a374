#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "harness/signature/plain_text.h"
#include "harness/signature/rules.h"

namespace mpsprobe {

/// A rule's text in a plain text. The message is a form's; of others the whole match.
struct RuleMatch {
  const TextRule* rule = nullptr;  ///< none: a line of its own
  size_t begin = 0;                ///< of the first fragment
  size_t end = 0;
  size_t message_begin = 0;
  size_t message_end = 0;
};

/// The message of a form, and the line below it where it ends in a colon: then it only announces
/// what went wrong. Points into the text.
std::string_view message_of(const PlainText& text, const RuleMatch& match);

/// Every text and form that fits in `text` and stands in its place, by where they begin; of
/// several forms at one place the first of the table. Linear in the text but for the shapes, of
/// which no more than a few thousand are tried. Throws only for lack of memory; from any thread.
std::vector<RuleMatch> find_rules(const PlainText& text, const Rules& rules);

}  // namespace mpsprobe
