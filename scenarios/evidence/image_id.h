#pragma once

#include <cstdint>
#include <span>

#ifdef __APPLE__
#include <mach-o/loader.h>
#else
#include <link.h>
#endif

namespace mpsprobe {

/// What tells one build of a loaded image from every other: the note NT_GNU_BUILD_ID of ELF,
/// LC_UUID of Mach-O. Empty where the image carries none. Points into the image; allocates nothing.
#ifdef __APPLE__
std::span<const uint8_t> image_id(const mach_header_64& header);
#else
std::span<const uint8_t> image_id(const dl_phdr_info& info);
#endif

}  // namespace mpsprobe
