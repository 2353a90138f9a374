#include "harness/campaign/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/campaign/shard.h"
#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/journal/header_fields.h"
#include "harness/journal/header_json.h"
#include "harness/journal/journal_line.h"
#include "harness/journal/journal_reader.h"
#include "harness/journal/record_json.h"
#include "harness/journal/trial_json.h"
#include "harness/wire/loaded_library.h"

namespace mpsprobe {

/// What a merge needs of one trial.
struct TrialStamp {
  std::string started;
  uint64_t sequence = 0;
  const std::string* worker = nullptr;
  const std::string* cell = nullptr;        ///< to_string(TrialRecord::cell)
  const std::string* provenance = nullptr;  ///< of the first process that gave one; "" for none
  int trial = 0;
  int attempt = 0;
  bool evidence = false;
};

/// The stamps of all trials of a journal, in its order. Not copied: they point into it.
class TrialStamps {
 public:
  TrialStamps() = default;
  TrialStamps(const TrialStamps&) = delete;
  TrialStamps& operator=(const TrialStamps&) = delete;

  void add(const TrialRecord& trial);
  size_t size() const { return stamps_.size(); }
  const TrialStamp& operator[](size_t index) const { return stamps_[index]; }

 private:
  std::deque<TrialStamp> stamps_;
  std::set<std::string> texts_;
};

void TrialStamps::add(const TrialRecord& trial) {
  const auto teller =
      std::find_if(trial.processes.begin(), trial.processes.end(),
                   [](const ProcessRecord& process) { return process.hello.has_value(); });
  TrialStamp& stamp = stamps_.emplace_back();
  stamp.started = trial.started;
  stamp.sequence = trial.sequence;
  stamp.worker = &*texts_.insert(trial.worker).first;
  stamp.cell = &*texts_.insert(to_string(trial.cell)).first;
  stamp.provenance =
      &*texts_.insert(teller == trial.processes.end() ? "" : teller->hello->provenance).first;
  stamp.trial = trial.trial;
  stamp.attempt = trial.attempt;
  stamp.evidence = is_evidence(trial.judgement.outcome);
}

namespace {

using nlohmann::json;

constexpr const char* kMachineFacts[] = {"chip", "model",    "architecture",
                                         "os",   "os_build", "kernel"};

/// The plan of all shards, without what belongs to one of them or to one machine.
CampaignHeader whole_plan(const CampaignHeader& header) {
  CampaignHeader plan = header;
  if (plan.shard) plan.cells = plan.whole;
  plan.shard.reset();
  plan.whole.clear();
  plan.origin.clear();
  return plan;
}

/// In which of its parts a plan differs from another: "seed, start_process". How processes are
/// started is a part of it: failure rates differ by it (docs/commands.md).
std::string differences(const CampaignHeader& a, const CampaignHeader& b) {
  const json ours = header_to_json(whole_plan(a));
  const json theirs = header_to_json(whole_plan(b));
  std::vector<std::string> names;
  for (const char* key :
       {"mpsprobe_version", "seed", "trials", "settle_rate", "timeout_seconds", "stall_seconds",
        "start_process", "environment", "matrix_name", "cells", "expect"}) {
    if (ours.value(key, json()) != theirs.value(key, json())) names.emplace_back(key);
  }
  const auto same_name = [](const WorkerInfo& one, const WorkerInfo& other) {
    return one.name == other.name;
  };
  if (!std::equal(a.workers.begin(), a.workers.end(), b.workers.begin(), b.workers.end(),
                  same_name)) {
    names.emplace_back("workers");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

json machine_of(const CampaignHeader& header) {
  json machine = json::object();
  for (const char* key : kMachineFacts) {
    if (header.machine.is_object() && header.machine.contains(key)) {
      machine[key] = header.machine.at(key);
    }
  }
  return machine;
}

/// Machine and library of a trial: what must be the same throughout a boundary.
std::string ground_of(const Journal& journal, const TrialStamp& trial) {
  std::string ground = json_text(machine_of(journal.header));
  const auto at = journal.provenances.find(*trial.provenance);
  if (at == journal.provenances.end()) {
    return trial.provenance->empty() ? ground : ground + " with a library whose record is lost";
  }
  const LibraryUnderTest library = library_under_test(at->second);
  return ground + " with " + in_words(library) + " " + library.git_hash + " " + library.build_id;
}

/// By when they began; what began at once in the order of the schedule.
bool began_before(const TrialStamp& a, const TrialStamp& b) {
  return std::tie(a.started, a.sequence, *a.worker, a.trial, a.attempt) <
         std::tie(b.started, b.sequence, *b.worker, b.trial, b.attempt);
}

/// A trial among those of all journals.
struct Found {
  uint32_t journal = 0;
  uint32_t index = 0;
};

/// Which trials a merged journal has, in its order: each once, the record that began first.
std::vector<Found> order_of(const std::vector<NamedJournal>& journals) {
  std::vector<Found> all;
  for (uint32_t k = 0; k < journals.size(); ++k) {
    for (uint32_t i = 0; i < journals[k].stamps->size(); ++i) all.push_back({k, i});
  }
  const auto stamp = [&journals](const Found& found) -> const TrialStamp& {
    return (*journals[found.journal].stamps)[found.index];
  };
  std::stable_sort(all.begin(), all.end(), [&stamp](const Found& a, const Found& b) {
    return began_before(stamp(a), stamp(b));
  });
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> units;
  std::set<std::tuple<uint32_t, int, int>> seen;  // unit, number, attempt
  std::erase_if(all, [&](const Found& found) {
    const TrialStamp& trial = stamp(found);
    const auto unit =
        units.try_emplace({*trial.worker, *trial.cell}, static_cast<uint32_t>(units.size())).first;
    return !seen.emplace(unit->second, trial.trial, trial.attempt).second;
  });
  return all;
}

std::vector<std::string> without_shard(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--shard") {
      ++i;
    } else if (!words[i].starts_with("--shard=")) {
      kept.push_back(words[i]);
    }
  }
  return kept;
}

/// The facts that all machines share; one in which they differ is "several".
void add_machine(json& common, const json& machine) {
  if (!common.is_object() || !machine.is_object()) return;
  for (auto& [key, value] : common.items()) {
    if (machine.contains(key) && machine.at(key) == value) continue;
    value = value.is_string() ? json("several") : json(0);
  }
}

/// Holds each boundary to one machine and one library for each worker.
class Grounds {
 public:
  void add(const NamedJournal& from) {
    std::set<std::tuple<const std::string*, const std::string*, const std::string*>> alike;
    for (size_t i = 0; i < from.stamps->size(); ++i) {
      const TrialStamp& trial = (*from.stamps)[i];
      if (!trial.evidence) continue;
      if (alike.emplace(trial.worker, trial.cell, trial.provenance).second) add(from, trial);
    }
  }

 private:
  void add(const NamedJournal& from, const TrialStamp& trial) {
    const std::string ground = ground_of(from.journal, trial);
    const std::string boundary = boundary_of(parse_cell(*trial.cell));
    const auto [at, fresh] =
        seen_.try_emplace({*trial.worker, boundary}, std::pair{ground, from.name});
    // Within one run the analysis keeps builds apart, and says so.
    if (fresh || at->second.first == ground || at->second.second == from.name) return;
    throw InputError(at->second.second + " and " + from.name,
                     "hold trials of one boundary, " + boundary +
                         ", on unlike machines or libraries: " + at->second.first + " and " +
                         ground,
                     "Merge runs of one kind of machine, or divide the plan by --shard");
  }

  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> seen_;
};

void check_plans(const std::vector<NamedJournal>& journals) {
  for (const NamedJournal& each : journals) {
    const std::string differ = differences(journals.front().journal.header, each.journal.header);
    if (differ.empty()) continue;
    throw InputError(journals.front().name + " and " + each.name,
                     "are of different plans: they differ in " + differ,
                     "Merge runs of the same matrix, options, workers and mpsprobe");
  }
}

/// What was merged of runs that are all here themselves says nothing more, and no longer on which
/// machine each was.
void leave_out_contained(std::vector<NamedJournal>& journals) {
  std::set<std::string> runs;
  for (const NamedJournal& each : journals) {
    if (each.journal.header.merged_from.empty()) runs.insert(each.journal.run);
  }
  std::erase_if(journals, [&runs](const NamedJournal& each) {
    const auto& from = each.journal.header.merged_from;
    return !from.empty() && std::all_of(from.begin(), from.end(), [&runs](const std::string& run) {
      return runs.contains(run);
    });
  });
}

std::string text_of_header(const CampaignHeader& header) {
  return json_text(header_to_json(header));
}

}  // namespace

NamedJournal named_journal(std::string name, const std::filesystem::path& file) {
  const auto stamps = std::make_shared<TrialStamps>();
  Journal journal = read_journal(file, [&](const TrialRecord& trial) { stamps->add(trial); });
  return {std::move(name), std::move(journal), stamps};
}

std::vector<NamedJournal> runs_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders{folder};
  std::error_code error;  // no folder, no run
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    folders.push_back(entry.path());
  }
  std::sort(folders.begin() + 1, folders.end());
  std::vector<NamedJournal> runs;
  for (const std::filesystem::path& each : folders) {
    const std::filesystem::path file = each / "journal.ndjson";
    // A journal without a whole first line is of a run that never began.
    if (!std::filesystem::is_regular_file(file, error) || !has_first_record(file)) continue;
    runs.push_back(named_journal(each.string(), file));
  }
  return runs;
}

Journal merge_journals(std::vector<NamedJournal> journals) {
  if (journals.empty()) throw InputError("merge", "no run to merge", "Name folders of runs");
  check_plans(journals);
  leave_out_contained(journals);
  // One order, however they were named: that of the machines' clocks, then of their own names.
  std::sort(journals.begin(), journals.end(), [](const NamedJournal& a, const NamedJournal& b) {
    return std::tie(a.journal.header.started, a.journal.run) <
           std::tie(b.journal.header.started, b.journal.run);
  });
  Journal merged;
  merged.header = whole_plan(journals.front().journal.header);
  merged.header.command_line = without_shard(merged.header.command_line);
  merged.header.left_out.clear();
  std::set<std::string> runs;
  std::set<std::tuple<std::string, std::string, std::string, double>> ends;
  std::set<std::pair<std::string, std::string>> left_out;
  Grounds grounds;
  bool stored = true;
  for (NamedJournal& each : journals) {
    if (!each.stamps) {
      const auto stamps = std::make_shared<TrialStamps>();
      for_each_trial(each.journal, [&](const TrialRecord& trial) { stamps->add(trial); });
      each.stamps = stamps;
    }
    grounds.add(each);
    stored = stored && each.journal.stored;
    const Journal& journal = each.journal;
    add_machine(merged.header.machine, journal.header.machine);
    const auto& before = journal.header.merged_from;
    if (before.empty()) runs.insert(journal.run);
    runs.insert(before.begin(), before.end());
    for (const CampaignEnd& end : journal.ends)
      ends.insert({end.ended, end.reason, end.note, end.processors_of_others});
    merged.provenances.insert(journal.provenances.begin(), journal.provenances.end());
    merged.image_sets.insert(journal.image_sets.begin(), journal.image_sets.end());
    for (const LeftOut& cell : journal.header.left_out) {
      if (left_out.emplace(cell.cell, cell.reason).second) {
        merged.header.left_out.push_back(cell);
      }
    }
  }
  const auto in_files = std::make_shared<StoredTrials>();
  for (const Found& found : order_of(journals)) {
    const Journal& from = journals[found.journal].journal;
    if (stored) {
      in_files->add(*from.stored, found.index);
    } else {
      merged.trials.push_back(trial_at(from, found.index));
    }
  }
  if (stored) merged.stored = in_files;
  for (const auto& [ended, reason, note, others] : ends)
    merged.ends.push_back({reason, ended, note, others});
  merged.header.merged_from.assign(runs.begin(), runs.end());
  merged.run = fmt::format("{:016x}", fnv1a(text_of_header(merged.header)));
  return merged;
}

std::vector<size_t> missing_shards(const std::vector<NamedJournal>& journals) {
  std::set<size_t> missing;
  std::set<size_t> here;
  for (const NamedJournal& each : journals) {
    const CampaignHeader& header = each.journal.header;
    if (!header.shard) continue;
    here.insert(header.shard->index + 1);
    for (size_t shard : divide_into_shards(header.whole, header.shard->count)) {
      missing.insert(shard + 1);
    }
  }
  for (size_t shard : here) missing.erase(shard);
  return {missing.begin(), missing.end()};
}

void write_journal(const std::filesystem::path& file, const Journal& journal) {
  const Folder folder(file.parent_path());
  NewFile fresh(folder, file.filename().string());
  bool good = fresh.is_open();
  const auto write = [&](const std::string& line) { good = good && fresh.write(line); };
  uint64_t number = 0;
  const auto add = [&](const json& record) { write(sealed_line(record, number++, journal.run)); };
  add({{"record", "campaign"},
       {"journal_version", kJournalVersion},
       {"run", journal.run},
       {"campaign", header_to_json(journal.header)}});
  for (const auto& [id, data] : journal.provenances) {
    add({{"record", "provenance"}, {"id", id}, {"provenance", data}});
  }
  for (const auto& [id, images] : journal.image_sets) {
    add({{"record", "images"}, {"id", id}, {"images", record_json::write<json>(images)}});
  }
  if (journal.stored) {
    journal.stored->for_each_json(
        [&](std::string_view trial) { write(sealed_line("trial", trial, number++, journal.run)); });
  }
  for (const TrialRecord& trial : journal.trials) {
    add({{"record", "trial"}, {"trial", trial_to_json(trial)}});
  }
  for (const CampaignEnd& end : journal.ends) {
    json record = record_to_json(end);
    record["record"] = "end";
    add(record);
  }
  if (good && fresh.sync() && fresh.replace()) return;
  throw JournalError(
      fmt::format("{}: cannot be written: {}. Free some space or choose another folder with --out; "
                  "the runs are untouched",
                  file.string(), reason_of(errno)));
}

}  // namespace mpsprobe
