#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// A library as it really lies in this process, which may be another one than was linked against.
struct LoadedImage {
  std::string path;         ///< links resolved; empty where the system does not tell
  std::string build_id;     ///< ELF: the note NT_GNU_BUILD_ID in hex; empty where there is none
  std::string uuid;         ///< Mach-O: LC_UUID, as crash reports print it; empty elsewhere
  std::string fingerprint;  ///< fingerprint_of (installed_torch.h) its file
};

/// The image that holds `address`. Does not throw; what cannot be found stays empty.
LoadedImage image_of(const void* address);

/// The first loaded image whose file's name begins so ("libtorch_cpu"); all empty where none is.
LoadedImage image_named(std::string_view beginning);

}  // namespace mpsprobe
