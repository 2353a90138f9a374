// libFuzzer target: the reader of Mach-O files.
#include <cstdint>

#include "harness/stack/image_symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace mpsprobe;
  // The first 16 bytes are the id that is asked for, so that the slice of a universal file is
  // found.
  if (bytes < 16) return 0;
  std::string id;
  for (int i = 0; i < 16; ++i) {
    id += "0123456789abcdef"[data[i] >> 4];
    id += "0123456789abcdef"[data[i] & 15];
  }
  const ImageFile file({reinterpret_cast<const char*>(data) + 16, bytes - 16});
  macho_literals(file, id);
  macho_literals(file, std::nullopt);
  for (const std::string& wanted : {id, std::string()}) {
    const auto symbols = open_macho_symbols(file, wanted);
    if (symbols == nullptr) continue;
    for (uint64_t offset = 0; offset < 0x4000; offset += 64) symbols->frames_at(offset);
    symbols->frames_at(UINT64_MAX);
  }
  return 0;
}
