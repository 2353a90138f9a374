#pragma once

#include <filesystem>
#include <vector>

#include "harness/campaign/merge.h"

namespace mpsprobe {

/// The run in a folder, and those in the folders right below it, by name; their trials stay in the
/// files. Throws JournalError for a journal that cannot be read.
std::vector<NamedJournal> runs_below(const std::filesystem::path& folder);

}  // namespace mpsprobe
