#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "reproducers/minimise/minimum.h"

namespace mpsprobe {

/// Hands the minimal cell on as programs: FOLDER/programs/KIND/ holds each, FOLDER/proofs.json what
/// became of it when it was built and run here, which can take minutes. `library` is the
/// library under test that the worker loads, `interpreter` the Python that one in Python runs in,
/// "" where that is not known. Returns what people should know of it as a section of Markdown.
/// Replaces the programs that an earlier call left. Throws InputError where the programs that come
/// with mpsprobe are missing, ReportError or MachineError where the folder cannot be written.
/// `interrupted` is watched: what was not tried by then is said to be so.
std::string write_programs(const std::filesystem::path& folder, const Minimum& minimum,
                           const std::filesystem::path& library, const std::string& interpreter,
                           const std::atomic<bool>& interrupted);

}  // namespace mpsprobe
