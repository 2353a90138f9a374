#pragma once

#include <filesystem>
#include <string>

namespace mpsprobe {

/// Keeps the bytes of a verdict inside its bundle, in the folder `verified`, which no manifest
/// lists, named by the time that the run began. Returns that folder. Throws ReportError where it
/// cannot, or where the folder is a link: a bundle from elsewhere must not say where to write.
std::filesystem::path keep_verdict(const std::filesystem::path& bundle, const std::string& started,
                                   const std::string& json);

}  // namespace mpsprobe
