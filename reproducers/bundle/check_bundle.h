#pragma once

#include <filesystem>

namespace mpsprobe {

/// A bundle may come from anywhere. Checks it before anything of it is used: no link, pipe or
/// device lies in its folder, and each file that MANIFEST.sha256 names, bundle.json among them, is
/// there with the bytes that were packed. Files that the manifest does not name are not used, and
/// may be there: a filing number, verdicts, one's own notes. Throws InputError that names the file.
void check_bundle(const std::filesystem::path& folder);

}  // namespace mpsprobe
