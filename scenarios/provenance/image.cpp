#include "scenarios/provenance/image.h"

#include <dlfcn.h>
#include <fmt/format.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "harness/provenance/installed_torch.h"
#include "harness/wire/hex.h"
#include "scenarios/evidence/image_id.h"

namespace mpsprobe {
namespace {

bool is_called(std::string_view path, std::string_view beginning) {
  const size_t slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with(beginning);
}

#ifdef __APPLE__

void identify(const void* base, LoadedImage& image) {
  const auto* header = static_cast<const mach_header_64*>(base);
  if (header->magic != MH_MAGIC_64) {
    return;
  }
  const std::string digits = hex(image_id(*header));
  if (digits.size() != 32) {
    return;
  }
  image.uuid = fmt::format("{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4),
                           digits.substr(12, 4), digits.substr(16, 4), digits.substr(20));
  std::transform(image.uuid.begin(), image.uuid.end(), image.uuid.begin(),
                 [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c; });
}

const void* find_image(std::string_view beginning) {
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    const char* const path = _dyld_get_image_name(i);
    if (path != nullptr && is_called(path, beginning)) return _dyld_get_image_header(i);
  }
  return nullptr;
}

#else

struct NameSearch {
  std::string_view beginning;
  const void* found = nullptr;
};

int visit_name(dl_phdr_info* info, size_t, void* data) {
  NameSearch& search = *static_cast<NameSearch*>(data);
  if (!is_called(info->dlpi_name, search.beginning)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers
    search.found = reinterpret_cast<const void*>(info->dlpi_addr + header.p_vaddr);
    return 1;
  }
  return 0;
}

const void* find_image(std::string_view beginning) {
  NameSearch search{beginning};
  dl_iterate_phdr(visit_name, &search);
  return search.found;
}

struct Search {
  const void* base;
  LoadedImage* image;
};

int visit(dl_phdr_info* info, size_t, void* data) {
  const Search& search = *static_cast<Search*>(data);
  bool ours = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const auto address = reinterpret_cast<uintptr_t>(search.base);
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    ours =
        ours || (header.p_type == PT_LOAD && address >= begin && address < begin + header.p_memsz);
  }
  if (!ours) {
    return 0;
  }
  search.image->build_id = hex(image_id(*info));
  return 1;
}

void identify(const void* base, LoadedImage& image) {
  Search search{base, &image};
  dl_iterate_phdr(visit, &search);
}

#endif

}  // namespace

LoadedImage image_of(const void* address) {
  LoadedImage image;
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return image;
  }
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(info.dli_fname, error);
  image.path = error ? info.dli_fname : resolved.string();
  identify(info.dli_fbase, image);
  image.fingerprint = fingerprint_of(image.path);
  return image;
}

LoadedImage image_named(std::string_view beginning) {
  const void* const address = find_image(beginning);
  return address == nullptr ? LoadedImage{} : image_of(address);
}

}  // namespace mpsprobe
