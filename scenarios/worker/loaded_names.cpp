#include "scenarios/worker/loaded_names.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <mach-o/loader.h>

#include "harness/wire/macho_header.h"
#else
#include <link.h>
#endif

namespace mpsprobe {
namespace {

using Searcher = std::boyer_moore_horspool_searcher<std::string_view::const_iterator>;

bool goes_on_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether `bytes` have the name that `searcher` looks for with the zero byte behind it, and not as
/// the end of a longer one.
bool has_name(std::string_view bytes, const Searcher& searcher) {
  auto at = bytes.begin();
  while (true) {
    const auto [begin, end] = searcher(at, bytes.end());
    if (begin == bytes.end()) return false;
    if (begin == bytes.begin() || !goes_on_a_name(*(begin - 1))) return true;
    at = end;
  }
}

#ifdef __APPLE__

std::string library_that_has(const Searcher& searcher) {
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    const mach_header* const header = _dyld_get_image_header(i);
    const char* const path = _dyld_get_image_name(i);
    if (header == nullptr || path == nullptr || header->filetype == MH_EXECUTE) continue;
    const MachoHeader image = read_macho_header(header);
    // Constants lie in __TEXT as well.
    if (!image.valid || image.text_bytes == 0) continue;
    if (has_name({reinterpret_cast<const char*>(header), image.text_bytes}, searcher)) return path;
  }
  return "";
}

#else

struct NameSearch {
  const Searcher& searcher;
  std::string path;
};

int search_image(dl_phdr_info* info, size_t, void* data) {
  NameSearch& search = *static_cast<NameSearch*>(data);
  if (info->dlpi_name[0] == '\0') return 0;  // the program itself
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const bool constants = (segment.p_flags & PF_R) != 0 && (segment.p_flags & PF_W) == 0;
    if (segment.p_type != PT_LOAD || !constants) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers
    const auto* const begin = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    if (!has_name({begin, segment.p_filesz}, search.searcher)) continue;
    search.path = info->dlpi_name;
    return 1;
  }
  return 0;
}

std::string library_that_has(const Searcher& searcher) {
  NameSearch search{searcher, {}};
  dl_iterate_phdr(search_image, &search);
  return search.path;
}

#endif

}  // namespace

std::string library_with_name(std::string_view name) {
  const std::string wanted = std::string(name) + '\0';
  const std::string_view view = wanted;
  return library_that_has(Searcher(view.begin(), view.end()));
}

}  // namespace mpsprobe
