#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

class TrialStamps;

/// A journal and what messages call it.
struct NamedJournal {
  std::string name;
  Journal journal;
  std::shared_ptr<const TrialStamps> stamps;  ///< where its trials stay in the file
};

/// Reads a journal whose trials stay in the file. Throws JournalError.
NamedJournal named_journal(std::string name, const std::filesystem::path& file);

/// The run in a folder, and those in the folders right below it, by name; their trials stay in the
/// files. Throws JournalError for a journal that cannot be read.
std::vector<NamedJournal> runs_below(const std::filesystem::path& folder);

/// One journal of several runs of one plan: shards, shards that ran again, and what was merged of
/// them before. Each trial is in it once, the record that began first; in the order in which they
/// began; in memory, or in the files where all of them are there. The same journals give the same
/// one, in whatever order and however often each is named. Throws InputError, naming two of them,
/// where the plans differ, or where trials of one boundary are from unlike machines or libraries.
Journal merge_journals(std::vector<NamedJournal> journals);

/// The shards, counted from 1, of which no run is among these, although they have cells.
std::vector<size_t> missing_shards(const std::vector<NamedJournal>& journals);

/// Writes a journal as it is, in one step; `file` is replaced. Throws JournalError.
void write_journal(const std::filesystem::path& file, const Journal& journal);

}  // namespace mpsprobe
