#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// The command, as arguments beginning with the program as it was called, that runs one cell of a
/// run again as it ran there: on the same worker, with the environment, limits and number of trials
/// of the run, and with what its command line said of the library, crash reports and known-good
/// cells. What a cell gets by default is not repeated. Pure: the same header gives the same words.
std::vector<std::string> rerun_arguments(const CampaignHeader& header, std::string_view worker_name,
                                         std::string_view worker_path, const std::string& cell);

/// Whether the command line of a run named its workers: then a command that runs one of its cells
/// again has to name them as well, or it tests another build.
bool names_workers(const std::vector<std::string>& command_line);

/// The memory limit of a run in MiB, rounded up, where it is not the usual share of its machine.
std::optional<uint64_t> own_memory_limit_mib(const CampaignHeader& header);

/// What of a run's command line holds on every machine, for rerun_arguments: how trials were
/// started, and whether a worker was named; no path and no program.
std::vector<std::string> for_others(const std::vector<std::string>& command_line);

/// The program of a run, as it was called: "mpsprobe", "tools/mpsprobe".
std::string program_of(const CampaignHeader& header);

}  // namespace mpsprobe
