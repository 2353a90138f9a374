#pragma once

#include <atomic>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reproducers/minimise/minimum.h"

namespace mpsprobe {

/// Hands the minimal cell on as programs: FOLDER/programs/KIND/ holds each, FOLDER/proofs.json what
/// became of it when it was built and run here, which can take minutes. `describe` is what its
/// worker answered: the library under test, the interpreter, what the operation is. Returns what
/// people should know of it as a section of Markdown. Replaces the programs that an earlier call
/// left. Throws InputError where the programs that come with mpsprobe are missing, ReportError or
/// MachineError where the folder cannot be written. `interrupted` is watched: what was not tried by
/// then is said to be so.
std::string write_programs(const std::filesystem::path& folder, const Minimum& minimum,
                           const nlohmann::json& describe, const std::atomic<bool>& interrupted);

}  // namespace mpsprobe
