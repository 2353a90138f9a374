#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace mpsprobe {

/// What a Mach-O image in memory says of itself. Worker and runner look at the same image, each at
/// its own copy, and know it again by the UUID: so both read it in one way.
struct MachoHeader {
  bool valid = false;             ///< it is a 64-bit Mach-O image
  std::span<const uint8_t> uuid;  ///< LC_UUID; empty where there is none. Points into the image
  uint64_t text_bytes = 0;  ///< size of __TEXT, which begins with the header; 0: there is none
};

/// Reads the header at `image` and the load commands behind it. The image is one that the loader
/// has accepted: its commands are whole. Allocates nothing and locks nothing. After
/// <mach-o/loader.h>, without that header, so that it is compiled and tested where there is none.
inline MachoHeader read_macho_header(const void* image) {
  constexpr uint32_t kMagic64 = 0xfeedfacf;
  constexpr uint32_t kSegment64 = 0x19;
  constexpr uint32_t kUuid = 0x1b;
  constexpr size_t kHeaderBytes = 32;
  constexpr size_t kCommandCountAt = 16;
  constexpr size_t kUuidAt = 8;
  constexpr size_t kUuidBytes = 16;
  constexpr size_t kSegmentNameAt = 8;
  constexpr size_t kSegmentBytesAt = 32;
  const auto* at = static_cast<const uint8_t*>(image);
  const auto number = [&at](size_t offset, auto value) {
    std::memcpy(&value, at + offset, sizeof(value));
    return value;
  };
  MachoHeader header;
  if (number(0, uint32_t{}) != kMagic64) return header;
  header.valid = true;
  const auto commands = number(kCommandCountAt, uint32_t{});
  at += kHeaderBytes;
  for (uint32_t i = 0; i < commands; ++i) {
    const auto kind = number(0, uint32_t{});
    const auto bytes = number(4, uint32_t{});
    if (kind == kUuid && header.uuid.empty()) header.uuid = {at + kUuidAt, kUuidBytes};
    if (kind == kSegment64 && header.text_bytes == 0 &&
        std::memcmp(at + kSegmentNameAt, "__TEXT", sizeof("__TEXT")) == 0) {
      header.text_bytes = number(kSegmentBytesAt, uint64_t{});
    }
    at += bytes;
  }
  return header;
}

}  // namespace mpsprobe
