#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/journal/journal.h"
#include "reproducers/bundle/redaction/redactor.h"

namespace mpsprobe {

/// Bytes of one captured stream that are kept, at its begin and at its end.
constexpr size_t kMostCaptureBytes = 65536;
/// Stacks and texts of one process beyond which the rest is left out.
constexpr size_t kMostListEntries = 512;

/// Learns the personal strings that the texts of a journal hold: names in paths, values behind
/// telling keys.
void learn_from_journal(const Journal& journal, PersonalStrings& strings);

/// A journal as it may be handed on. Everything that is derived from it afterwards is clean: texts
/// and paths are redacted, structured parts (provenance, what a worker described) are reduced to
/// what is wanted, and long texts are cut to their bounds, which their text then says. Names of
/// workers that hold personal data become "worker-1". Throws only for lack of memory.
void redact_journal(Journal& journal, Redactor& redactor);

/// A text of the evidence cut to its first `head` and last `tail` bytes, with a line between them
/// that says how much was left out. Never between the bytes of a character of UTF-8.
std::string cut_in_the_middle(std::string_view text, size_t head, size_t tail);

}  // namespace mpsprobe
