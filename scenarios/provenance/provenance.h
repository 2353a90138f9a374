#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace mpsprobe {

/// Path of the libtorch_cpu that this worker was linked with.
extern const char* const kTorchBuiltAgainst;

/// The LibTorch that this process really loaded: JSON object with version, git_hash, path,
/// built_against, build_id or uuid, fingerprint, compiled_version (of the headers),
/// has_mps_stream_pool (the symbol is in the process) and build (LibTorch's own words on how it was
/// built). Version and hash come from the library itself; where it does not tell, from the files
/// beside it; otherwise they are empty. Throws SetupError where the loaded release is not the one
/// whose headers were compiled against: layouts differ, and any crash would be the harness's own.
/// Does not touch a device.
nlohmann::json torch_provenance();

/// The value of KEY in "..., KEY=value, ..." of LibTorch's build text; empty where it is not there.
std::string build_setting(std::string_view text, std::string_view key);

/// True where both versions begin with the same major and minor number.
bool same_release(std::string_view loaded, std::string_view compiled);

}  // namespace mpsprobe
