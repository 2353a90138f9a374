#pragma once

#include <stdint.h>

// One image, which is the library that PyTorch looks for its kernels in.
inline uint32_t _dyld_image_count() {
  return 1;
}
inline const char* _dyld_get_image_name(uint32_t) {
  return "/libtorch_cpu.dylib";
}
struct mach_header_64 {};
inline const mach_header_64* _dyld_get_image_header(uint32_t) {
  static const mach_header_64 header;
  return &header;
}
