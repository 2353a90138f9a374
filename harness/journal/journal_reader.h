#pragma once

#include "harness/journal/journal.h"

namespace mpsprobe {

/// Written by this version; every line is sealed (journal_line.h).
constexpr int kJournalVersion = 3;
/// Read as well: lines without checksums.
constexpr int kUnsealedVersion = 2;

}  // namespace mpsprobe
