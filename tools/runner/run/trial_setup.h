#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/journal/journal.h"
#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// Makes the folder of a run that began at `started` (UTC, as utc_now says it) where nobody says
/// where it is kept: mpsprobe-out/TIME-name, with the time as one can write it in a file's name.
/// For this process alone: of runs that begin within a second each gets one of its own, the second
/// with "-2" behind its name. Throws MachineError where it cannot be created.
std::filesystem::path make_default_run_folder(std::string_view started, std::string_view name);

/// Makes a folder that --out named, with those above it. Throws InputError where it holds `file`,
/// which says that something ran in it, MachineError where it cannot be created.
void make_named_folder(const std::filesystem::path& folder, const char* file = nullptr);

/// Says on standard error that what follows is no evidence.
void say_simulated();

/// Says on standard error what the trials are about to run on: that it is simulated, where any of
/// it is, and each worker with its library.
void say_workers(const CampaignHeader& header);

/// Opens the journal in `folder` to go on with it. What was made elsewhere is refused without
/// `trust_run`: InputError (place = `place`). Results of two builds are never added up, so that it
/// goes on with the libraries that it began with: asks the workers, and throws MachineError where
/// one loads another library now. Throws JournalError.
std::unique_ptr<JournalWriter> go_on_with(const std::filesystem::path& folder,
                                          const std::string& place, bool trust_run);

/// Says on standard error which command goes on with what was cut short, as a shell reads it:
/// `command` with --resume, and what of `options` it has to be told again.
void say_goes_on(std::vector<std::string> command, const std::filesystem::path& folder,
                 const RunOptions& options);

/// Says on standard error after what it goes on.
void say_going_on(const std::filesystem::path& folder, const Journal& journal);

/// "loads MLX 0.31.2 now, and loaded MLX 0.31.1 when the run began", by the answers to `describe`;
/// "" where both are one build.
std::string other_library(const nlohmann::json& before, const nlohmann::json& now);

}  // namespace mpsprobe
