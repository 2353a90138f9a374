#include "harness/campaign/merge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "harness/campaign/shard.h"
#include "harness/journal/header_json.h"
#include "harness/journal/journal_line.h"
#include "harness/journal/journal_reader.h"
#include "harness/journal/trial_json.h"
#include "harness/wire/input_error.h"
#include "harness/wire/library_under_test.h"

namespace mpsprobe {
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
  return plan;
}

std::string plan_text(const CampaignHeader& header) {
  const json full = header_to_json(whole_plan(header));
  json plan;
  for (const char* key : {"mpsprobe_version", "seed", "trials", "settle_rate", "timeout_seconds",
                          "stall_seconds", "environment", "matrix_name", "cells", "expect"}) {
    if (full.contains(key)) plan[key] = full.at(key);
  }
  for (const WorkerInfo& worker : header.workers) plan["workers"].push_back(worker.name);
  return plan.dump(-1, ' ', false, json::error_handler_t::replace);
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
std::string ground_of(const Journal& journal, const std::string& machine,
                      const TrialRecord& trial) {
  std::string ground = machine;
  for (const ProcessRecord& process : trial.processes) {
    if (!process.hello) continue;
    const auto at = journal.provenances.find(process.hello->provenance);
    if (at == journal.provenances.end()) continue;
    const LibraryUnderTest library = library_under_test(at->second);
    ground += " with " + in_words(library) + " " + library.git_hash + " " + library.build_id;
    break;
  }
  return ground;
}

using TrialKey = std::tuple<std::string, std::string, int, int>;

TrialKey trial_key(const TrialRecord& trial) {
  return {trial.worker, to_string(trial.cell), trial.trial, trial.attempt};
}

/// By when they began; what began at once in the order of the schedule.
bool began_before(const TrialRecord& a, const TrialRecord& b) {
  return std::tie(a.started, a.sequence, a.worker, a.trial, a.attempt) <
         std::tie(b.started, b.sequence, b.worker, b.trial, b.attempt);
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
  void add(const NamedJournal& from, const TrialRecord& trial) {
    if (!is_evidence(trial.judgement.outcome)) return;
    const std::string machine =
        machine_of(from.journal.header).dump(-1, ' ', false, json::error_handler_t::replace);
    const std::string ground = ground_of(from.journal, machine, trial);
    const std::string boundary = boundary_of(trial.cell);
    const auto [at, fresh] =
        seen_.try_emplace({trial.worker, boundary}, std::pair{ground, from.name});
    // Within one run the analysis keeps builds apart, and says so.
    if (fresh || at->second.first == ground || at->second.second == from.name) return;
    throw InputError(at->second.second + " and " + from.name,
                     "hold trials of one boundary, " + boundary +
                         ", on unlike machines or libraries: " + at->second.first + " and " +
                         ground,
                     "Merge runs of one kind of machine, or divide the plan by --shard");
  }

 private:
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> seen_;
};

void check_plans(const std::vector<NamedJournal>& journals) {
  const std::string plan = plan_text(journals.front().journal.header);
  for (const NamedJournal& each : journals) {
    if (plan_text(each.journal.header) == plan) continue;
    throw InputError(journals.front().name + " and " + each.name, "are of different plans",
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
  return header_to_json(header).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

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
  std::set<std::string> runs;
  std::set<std::tuple<std::string, std::string, std::string>> ends;
  std::set<std::pair<std::string, std::string>> left_out;
  std::vector<TrialRecord> trials;
  Grounds grounds;
  for (const NamedJournal& each : journals) {
    const Journal& journal = each.journal;
    add_machine(merged.header.machine, journal.header.machine);
    const auto& before = journal.header.merged_from;
    if (before.empty()) runs.insert(journal.run);
    runs.insert(before.begin(), before.end());
    for (const CampaignEnd& end : journal.ends) ends.insert({end.ended, end.reason, end.note});
    merged.provenances.insert(journal.provenances.begin(), journal.provenances.end());
    merged.image_sets.insert(journal.image_sets.begin(), journal.image_sets.end());
    for (const TrialRecord& trial : journal.trials) {
      grounds.add(each, trial);
      trials.push_back(trial);
    }
    for (const LeftOut& cell : journal.header.left_out) {
      if (left_out.emplace(cell.cell, cell.reason).second && &each != &journals.front()) {
        const auto& known = merged.header.left_out;
        const bool there = std::any_of(known.begin(), known.end(), [&cell](const LeftOut& other) {
          return other.cell == cell.cell && other.reason == cell.reason;
        });
        if (!there) merged.header.left_out.push_back(cell);
      }
    }
  }
  std::stable_sort(trials.begin(), trials.end(), began_before);
  std::set<TrialKey> seen;
  for (TrialRecord& trial : trials) {
    if (seen.insert(trial_key(trial)).second) merged.trials.push_back(std::move(trial));
  }
  for (const auto& [ended, reason, note] : ends) merged.ends.push_back({reason, ended, note});
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
  const std::filesystem::path fresh = file.string() + ".new";
  std::ofstream stream(fresh, std::ios::binary | std::ios::trunc);
  uint64_t number = 0;
  const auto add = [&](const json& record) {
    stream << sealed_line(record, number++, journal.run);
  };
  add({{"record", "campaign"},
       {"journal_version", kJournalVersion},
       {"run", journal.run},
       {"campaign", header_to_json(journal.header)}});
  for (const auto& [id, data] : journal.provenances) {
    add({{"record", "provenance"}, {"id", id}, {"provenance", data}});
  }
  for (const auto& [id, images] : journal.image_sets) {
    json list = json::array();
    for (const ImageSeen& image : images) list.push_back({{"path", image.path}, {"id", image.id}});
    add({{"record", "images"}, {"id", id}, {"images", list}});
  }
  for (const TrialRecord& trial : journal.trials) {
    add({{"record", "trial"}, {"trial", trial_to_json(trial)}});
  }
  for (const CampaignEnd& end : journal.ends) {
    add({{"record", "end"}, {"reason", end.reason}, {"ended", end.ended}, {"note", end.note}});
  }
  stream.close();
  if (stream && std::rename(fresh.c_str(), file.c_str()) == 0) return;
  const int error = errno;
  unlink(fresh.c_str());
  throw JournalError(
      fmt::format("{}: cannot be written: {}. Free some space or choose another "
                  "folder with --out; the runs are untouched",
                  file.string(), std::strerror(error)));
}

}  // namespace mpsprobe
