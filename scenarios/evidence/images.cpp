#include "scenarios/evidence/images.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "scenarios/evidence/image_id.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>

#include "harness/provenance/macho_header.h"
#else
#include <link.h>
#endif

namespace mpsprobe {
namespace {

using recorder_layout::Block;

/// One thread at a time appends to the table. Held for a moment and never while anything is loaded.
std::atomic_flag appending = ATOMIC_FLAG_INIT;

bool is_noted(const Block& block, uint64_t address) {
  const auto* const end = block.images + block.image_count.load();
  return std::any_of(block.images, end, [address](const recorder_layout::Image& image) {
    return image.begin <= address && address < image.end;
  });
}

void add(Block& block, uint64_t base, uint64_t begin, uint64_t end, std::string_view path,
         std::span<const uint8_t> id) {
  const uint32_t index = block.image_count.load();
  if (index >= recorder_layout::kImages || is_noted(block, begin)) return;
  recorder_layout::Image& image = block.images[index];
  image.base = base;
  image.begin = begin;
  image.end = end;
  // Of a path that is too long the end says more.
  const size_t length = std::min(path.size(), recorder_layout::kImagePathBytes - 1);
  std::memcpy(image.path, path.data() + (path.size() - length), length);
  image.path[length] = '\0';
  image.id_bytes = static_cast<uint32_t>(std::min(id.size(), recorder_layout::kImageIdBytes));
  std::memcpy(image.id, id.data(), image.id_bytes);
  block.image_count.store(index + 1);
}

}  // namespace

#ifdef __APPLE__

namespace {

Block* images_block = nullptr;

/// What the loader told, for a process that has no recorder until it crashes. Its handler may not
/// ask the loader, which may hold a lock of its own.
struct Told {
  std::atomic<uint64_t> begin{0};
  uint64_t end = 0;
  const char* path = nullptr;  // the loader's
  decltype(MachoHeader::uuid) uuid{};
};
Told told[recorder_layout::kImages];
std::atomic<uint32_t> told_count{0};

/// Called by the loader for every image that there is, and for each that comes.
void note_image(const mach_header* header, intptr_t) {
  Dl_info info{};
  if (header == nullptr || dladdr(header, &info) == 0) return;
  const MachoHeader image = read_macho_header(header);
  if (!image.valid || image.text_bytes == 0) return;
  const auto base = reinterpret_cast<uint64_t>(header);
  while (appending.test_and_set(std::memory_order_acquire)) sched_yield();
  if (images_block != nullptr) {
    add(*images_block, base, base, base + image.text_bytes, info.dli_fname, image.uuid);
  }
  if (const uint32_t index = told_count.load(); index < recorder_layout::kImages) {
    told[index].end = base + image.text_bytes;
    told[index].path = info.dli_fname;
    told[index].uuid = image.uuid;
    told[index].begin.store(base, std::memory_order_release);
    told_count.store(index + 1);
  }
  appending.clear(std::memory_order_release);
}

/// Another image may since have come to the place of one that was taken away.
void forget_image(const mach_header* header, intptr_t) {
  const auto base = reinterpret_cast<uint64_t>(header);
  for (uint32_t i = 0; i < told_count.load(); ++i) {
    uint64_t begin = base;
    told[i].begin.compare_exchange_strong(begin, 0);
  }
}

}  // namespace

void note_images(FlightRecorder& recorder) {
  if (images_block != nullptr) return;
  images_block = recorder.block();
  remember_images();
}

void remember_images() {
  static std::atomic_flag registered = ATOMIC_FLAG_INIT;
  if (registered.test_and_set()) return;
  _dyld_register_func_for_add_image(note_image);
  _dyld_register_func_for_remove_image(forget_image);
}

void note_images_of(Block& block, std::span<const uint64_t> addresses) {
  if (appending.test_and_set(std::memory_order_acquire)) return;
  for (const uint64_t address : addresses) {
    if (is_noted(block, address)) continue;
    for (uint32_t i = 0; i < told_count.load(); ++i) {
      const uint64_t begin = told[i].begin.load(std::memory_order_acquire);
      if (begin == 0 || address < begin || address >= told[i].end) continue;
      add(block, begin, begin, told[i].end, told[i].path, told[i].uuid);
    }
  }
  appending.clear(std::memory_order_release);
}

#else

namespace {

void add(Block& block, const dl_phdr_info& info) {
  // The program itself has no name here.
  const bool nameless = info.dlpi_name[0] == '\0';
  char program[PATH_MAX];
  const ssize_t length = nameless ? readlink("/proc/self/exe", program, sizeof(program)) : 0;
  const std::string_view path =
      nameless ? std::string_view(program, std::max(length, ssize_t{0})) : info.dlpi_name;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t begin = info.dlpi_addr + segment.p_vaddr;
    add(block, info.dlpi_addr, begin, begin + segment.p_memsz, path, image_id(info));
  }
}

}  // namespace

void remember_images() {}

void note_images(FlightRecorder& recorder) {
  while (appending.test_and_set(std::memory_order_acquire)) sched_yield();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        add(*static_cast<Block*>(data), *info);
        return 0;
      },
      recorder.block());
  appending.clear(std::memory_order_release);
}

void note_images_of(Block& block, std::span<const uint64_t> addresses) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
  if (appending.test_and_set(std::memory_order_acquire)) return;
  for (const uint64_t address : addresses) {
    dl_find_object found{};
    if (is_noted(block, address) ||
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a stack holds numbers
        _dl_find_object(reinterpret_cast<void*>(address), &found) != 0) {
      continue;
    }
    // An image begins with its header, which says where the table of its segments lies.
    const auto* header = static_cast<const ElfW(Ehdr)*>(found.dlfo_map_start);
    if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) continue;
    dl_phdr_info info{};
    info.dlpi_addr = found.dlfo_link_map->l_addr;
    info.dlpi_name = found.dlfo_link_map->l_name;
    info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(
        static_cast<const char*>(found.dlfo_map_start) + header->e_phoff);
    info.dlpi_phnum = header->e_phnum;
    add(block, info);
  }
  appending.clear(std::memory_order_release);
#else
  (void)block;
  (void)addresses;
#endif
}

#endif

}  // namespace mpsprobe
