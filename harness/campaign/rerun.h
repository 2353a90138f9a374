#pragma once

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

/// The program of a run, as it was called: "mpsprobe", "tools/mpsprobe".
std::string program_of(const CampaignHeader& header);

}  // namespace mpsprobe
