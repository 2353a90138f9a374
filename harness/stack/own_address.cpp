#include "harness/stack/own_address.h"

#include <dlfcn.h>

#include <cstring>

#include "harness/platform/executable.h"
#include "harness/wire/hex.h"

#ifdef __APPLE__
#include <mach-o/loader.h>
#else
#include <link.h>
#endif

namespace mpsprobe {
namespace {

#ifndef __APPLE__
std::string build_id(const dl_phdr_info& info, const ElfW(Phdr) & notes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
  const auto* at = reinterpret_cast<const uint8_t*>(info.dlpi_addr + notes.p_vaddr);
  for (const uint8_t* const end = at + notes.p_memsz; at + sizeof(ElfW(Nhdr)) < end;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    const uint8_t* const text = at + sizeof(note) + ((note.n_namesz + 3) & ~3U);
    if (note.n_type == NT_GNU_BUILD_ID) return hex({text, note.n_descsz});
    at = text + ((note.n_descsz + 3) & ~3U);
  }
  return {};
}

struct Search {
  uint64_t address;
  FrameAddress found;
};

int look(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  std::string id;
  bool here = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_NOTE && id.empty()) id = build_id(*info, segment);
    here = here || (segment.p_type == PT_LOAD && search->address >= begin &&
                    search->address < begin + segment.p_memsz);
  }
  if (!here) return 0;
  const bool program = info->dlpi_name[0] == '\0';
  search->found = {program ? executable_path().string() : info->dlpi_name, id,
                   search->address - info->dlpi_addr};
  return 1;
}
#endif

}  // namespace

#ifdef __APPLE__
FrameAddress own_address(const void* code) {
  Dl_info info{};
  if (dladdr(code, &info) == 0) return {};
  const auto* header = static_cast<const mach_header_64*>(info.dli_fbase);
  FrameAddress address{info.dli_fname, "",
                       reinterpret_cast<uint64_t>(code) - reinterpret_cast<uint64_t>(header)};
  const auto* at = reinterpret_cast<const uint8_t*>(header + 1);
  for (uint32_t i = 0; i < header->ncmds; ++i) {
    const auto* command = reinterpret_cast<const load_command*>(at);
    if (command->cmd == LC_UUID) {
      address.image_id = hex({reinterpret_cast<const uuid_command*>(at)->uuid, 16});
    }
    at += command->cmdsize;
  }
  return address;
}
#else
FrameAddress own_address(const void* code) {
  Search search{reinterpret_cast<uint64_t>(code), {}};
  dl_iterate_phdr(look, &search);
  return search.found;
}
#endif

FrameAddress own_address(const char* function) {
  return own_address(dlsym(RTLD_DEFAULT, function));
}

}  // namespace mpsprobe
