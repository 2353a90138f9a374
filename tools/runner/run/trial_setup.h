#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// Where a run that began at `started` (UTC, as utc_now says it) is kept when nobody says where:
/// mpsprobe-out/TIME-name, with the time as one can write it in a file's name.
std::filesystem::path default_run_folder(std::string_view started, std::string_view name);

/// Makes that folder for this process alone: of runs that begin within a second each gets one of
/// its own, the second with "-2" behind its name. Throws MachineError where it cannot be created.
std::filesystem::path make_default_run_folder(std::string_view started, std::string_view name);

/// Makes a folder that --out named, with those above it. Throws MachineError where it cannot be
/// created.
void make_named_folder(const std::filesystem::path& folder);

/// Says on standard error that what follows is no evidence.
void say_simulated();

/// Says on standard error what the trials are about to run on: that it is simulated, where any of
/// it is, and each worker with its library.
void say_workers(const CampaignHeader& header);

/// Results of two builds are never added up: what is resumed goes on with the libraries that it
/// began with. Asks the workers; throws MachineError where one loads another library now.
void check_same_libraries(const CampaignHeader& header);

/// "loads MLX 0.31.2 now, and loaded MLX 0.31.1 when the run began", by the answers to `describe`;
/// "" where both are one build.
std::string other_library(const nlohmann::json& before, const nlohmann::json& now);

}  // namespace mpsprobe
