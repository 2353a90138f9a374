#pragma once

#include <filesystem>
#include <string>

namespace mpsprobe {

/// Writes a whole file, in place of one that is there. Throws MachineError where the disk is full
/// or the folder cannot be written.
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace mpsprobe
