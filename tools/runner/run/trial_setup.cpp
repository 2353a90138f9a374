#include "tools/runner/run/trial_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/wire/loaded_library.h"
#include "reports/analysis/devices.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/run/run_origin.h"
#include "tools/runner/say.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {

std::filesystem::path make_default_run_folder(std::string_view started, std::string_view name) {
  std::string time(started.substr(0, std::string_view("2026-01-01T00:00:00").size()));
  std::replace(time.begin(), time.end(), ':', '-');
  const std::filesystem::path first =
      std::filesystem::path("mpsprobe-out") / fmt::format("{}Z-{}", time, name);
  std::error_code error;
  std::filesystem::create_directories(first.parent_path(), error);
  std::filesystem::path folder = first;
  for (int number = 2; !error && !std::filesystem::create_directory(folder, error); ++number) {
    folder = first.string() + "-" + std::to_string(number);
  }
  if (error) {
    throw MachineError(
        fmt::format("{}: cannot be created: {}. Name a folder that can be written with --out",
                    folder.string(), error.message()));
  }
  return folder;
}

void make_named_folder(const std::filesystem::path& folder, const char* file) {
  std::error_code error;
  if (file != nullptr && std::filesystem::exists(folder / file, error)) {
    throw InputError("--out " + printable(folder.string()),
                     fmt::format("holds the {} of another run already", file),
                     "Go on with it by --resume, or name another folder");
  }
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw MachineError(
      fmt::format("--out {}: cannot be created: {}. Name a folder that can be written",
                  shortened(printable(folder.string()), 200), error.message()));
}

namespace {

const nlohmann::json& provenance_of(const nlohmann::json& describe) {
  return member(describe, "provenance");
}

std::string build_in_words(const nlohmann::json& describe) {
  const LibraryUnderTest library = library_under_test(provenance_of(describe));
  std::string words = in_words(library);
  if (!library.build_id.empty()) words += " (" + library.build_id + ")";
  return library.path.empty() ? words : words + " at " + library.path;
}

}  // namespace

void say_simulated() {
  say(stderr,
      "SIMULATED Metal device: what follows shows how mpsprobe works, and nothing about Apple's "
      "software.\n");
}

void say_workers(const CampaignHeader& header) {
  if (is_simulated(header)) say_simulated();
  for (const WorkerInfo& worker : header.workers) {
    const LibraryUnderTest library = library_under_test(provenance_of(worker.describe));
    say(stderr, "worker {}: {}, {}\n", worker.name, printable(in_words(library)),
        printable(worker.path));
    for (const nlohmann::json& remark : worker.describe.value("remarks", nlohmann::json::array())) {
      if (remark.is_string())
        say(stderr, "worker {}: {}\n", worker.name, shortened(printable(std::string(remark)), 300));
    }
  }
}

std::string other_library(const nlohmann::json& before, const nlohmann::json& now) {
  if (library_identity(provenance_of(before)) == library_identity(provenance_of(now))) return "";
  return fmt::format("loads {} now, and loaded {} when the run began", build_in_words(now),
                     build_in_words(before));
}

namespace {

void check_same_libraries(const CampaignHeader& header) {
  std::vector<std::string> same;
  for (const WorkerInfo& worker : header.workers) same.push_back(worker.name + "=" + worker.path);
  const std::vector<WorkerInfo> now =
      find_workers(same, header.environment, {}, header.timeout_seconds);
  for (size_t i = 0; i < now.size(); ++i) {
    const std::string changed =
        changed_code(provenance_of(header.workers[i].describe), provenance_of(now[i].describe));
    if (!changed.empty()) {
      throw MachineError(fmt::format(
          "{}. Trials of two versions are never added up: put back the one that the run "
          "began with, or begin a new run",
          printable(changed)));
    }
    const std::string other = other_library(header.workers[i].describe, now[i].describe);
    if (other.empty()) continue;
    throw MachineError(
        fmt::format("worker {} ({}) {}. Results of two builds are never added up: begin a new run",
                    now[i].name, now[i].path, other));
  }
}

}  // namespace

std::unique_ptr<JournalWriter> go_on_with(const std::filesystem::path& folder,
                                          const std::string& place, bool trust_run) {
  const std::filesystem::path file = folder / "journal.ndjson";
  if (!trust_run) {
    refuse_foreign(read_header(file), folder, place,
                   "Add --trust-run if you trust whoever made it, or begin anew");
  }
  auto journal = std::make_unique<JournalWriter>(file);
  check_same_libraries(journal->existing().header);
  return journal;
}

void say_goes_on(std::vector<std::string> command, const std::filesystem::path& folder,
                 const RunOptions& options) {
  command.insert(command.begin(), options.command_line.front());
  command.insert(command.end(), {"--resume", folder.string()});
  if (options.trust_run) command.emplace_back("--trust-run");
  // What a run that goes on is not told by its journal.
  const auto add = [&command](const char* option, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {option, value});
  };
  add("--expectations", options.expectations.value_or(""));
  add("--fail-on", options.fail_on);
  if (options.format != RunOptions().format) add("--format", options.format);
  if (options.keep_cores) command.emplace_back("--keep-cores");
  say(stderr, "this goes on with it:\n    {}\n", shell_command(command));
}

void say_going_on(const std::filesystem::path& folder, const Journal& journal) {
  for (const DamagedLine& line : journal.damaged) {
    say(stderr, "{}:{}: skipped: {}. If it was a trial, that runs again\n",
        printable((folder / "journal.ndjson").string()), line.line, printable(line.why));
  }
  say(stderr, "going on after {}{}\n", counted(journal.trials.size(), "trials"),
      journal.torn ? " (a record that was cut off is dropped, its trial runs again)" : "");
}

}  // namespace mpsprobe
