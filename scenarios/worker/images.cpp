#include "scenarios/worker/images.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "scenarios/worker/image_id.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#else
#include <link.h>
#endif

namespace mpsprobe {
namespace {

void add(recorder_layout::Block* block, uint64_t base, uint64_t begin, uint64_t end,
         std::string_view path, std::span<const uint8_t> id) {
  const uint32_t index = block->image_count.load();
  if (index >= recorder_layout::kImages) return;
  recorder_layout::Image& image = block->images[index];
  image.base = base;
  image.begin = begin;
  image.end = end;
  // Of a path that is too long the end says more.
  const size_t length = std::min(path.size(), recorder_layout::kImagePathBytes - 1);
  std::memcpy(image.path, path.data() + (path.size() - length), length);
  image.path[length] = '\0';
  image.id_bytes = static_cast<uint32_t>(std::min(id.size(), recorder_layout::kImageIdBytes));
  std::memcpy(image.id, id.data(), image.id_bytes);
  block->image_count.store(index + 1);
}

}  // namespace

#ifdef __APPLE__

void note_images(FlightRecorder& recorder) {
  recorder.block()->image_count.store(0);
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    const mach_header* header = _dyld_get_image_header(i);
    const char* name = _dyld_get_image_name(i);
    if (header == nullptr || header->magic != MH_MAGIC_64 || name == nullptr) continue;
    const auto base = reinterpret_cast<uint64_t>(header);
    const auto* command =
        reinterpret_cast<const load_command*>(reinterpret_cast<const mach_header_64*>(header) + 1);
    const auto id = image_id(*reinterpret_cast<const mach_header_64*>(header));
    for (uint32_t c = 0; c < header->ncmds; ++c) {
      const auto* segment = reinterpret_cast<const segment_command_64*>(command);
      if (command->cmd == LC_SEGMENT_64 && std::string_view(segment->segname) == "__TEXT") {
        add(recorder.block(), base, base, base + segment->vmsize, name, id);
      }
      command = reinterpret_cast<const load_command*>(reinterpret_cast<const char*>(command) +
                                                      command->cmdsize);
    }
  }
}

#else

void note_images(FlightRecorder& recorder) {
  recorder.block()->image_count.store(0);
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* block = static_cast<recorder_layout::Block*>(data);
        // The program itself comes first and without a name.
        const bool nameless = info->dlpi_name[0] == '\0';
        char program[PATH_MAX];
        const ssize_t length = nameless ? readlink("/proc/self/exe", program, sizeof(program)) : 0;
        const std::string_view path =
            nameless ? std::string_view(program, std::max(length, ssize_t{0})) : info->dlpi_name;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
          add(block, info->dlpi_addr, begin, begin + segment.p_memsz, path, image_id(*info));
        }
        return 0;
      },
      recorder.block());
}

#endif

}  // namespace mpsprobe
