#pragma once

#include <filesystem>
#include <string>

namespace mpsprobe {

/// Notes what a bundle is filed as ("FB12345678", "pytorch/pytorch#197805", an address) in its
/// filing.txt, which no manifest lists, in the place of an earlier one. 1 to 200 characters,
/// printable ASCII without spaces at its ends. Throws InputError (place `--filing`), ReportError.
void note_filing(const std::filesystem::path& bundle, const std::string& number);

/// Keeps the bytes of a verdict inside its bundle, in the folder `verified`, which no manifest
/// lists, named by the time that the run began. Returns that folder. Throws ReportError where it
/// cannot, or where the folder is a link: a bundle from elsewhere must not say where to write.
std::filesystem::path keep_verdict(const std::filesystem::path& bundle, const std::string& started,
                                   const std::string& json);

}  // namespace mpsprobe
