#include "scenarios/evidence/image_id.h"

#include <cstddef>
#include <cstring>

#ifdef __APPLE__
#include "harness/provenance/macho_header.h"
#else
#include <elf.h>
#endif

namespace mpsprobe {

#ifdef __APPLE__

std::span<const uint8_t> image_id(const mach_header_64& header) {
  return read_macho_header(&header).uuid;
}

#else

namespace {

std::span<const uint8_t> build_id_in(const uint8_t* at, size_t bytes) {
  // Name and description of a note are each padded to four bytes.
  const auto padded = [](size_t size) { return (size + 3) & ~size_t{3}; };
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    const size_t whole = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    if (whole > bytes) break;
    const uint8_t* const name = at + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      return {name + padded(note.n_namesz), note.n_descsz};
    }
    at += whole;
    bytes -= whole;
  }
  return {};
}

}  // namespace

std::span<const uint8_t> image_id(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto id = build_id_in(
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
        reinterpret_cast<const uint8_t*>(info.dlpi_addr + header.p_vaddr), header.p_memsz);
    if (!id.empty()) return id;
  }
  return {};
}

#endif

}  // namespace mpsprobe
