#include "scenarios/evidence/loaded_names.h"

#include <array>
#include <cstdint>
#include <string>

#include "harness/wire/ascii.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <mach-o/loader.h>

#include "harness/provenance/macho_header.h"
#else
#include <link.h>
#endif

namespace mpsprobe {
namespace {

/// A name with the zero byte behind it, and how far a place that does not have it can be left
/// behind, by the byte at its end (R. N. Horspool, "Practical fast searching in strings", Software:
/// Practice and Experience 10, 1980).
class Searcher {
 public:
  explicit Searcher(std::string_view name) : name_(std::string(name) + '\0') {
    skips_.fill(name_.size());
    for (size_t i = 0; i + 1 < name_.size(); ++i) {
      skips_[static_cast<unsigned char>(name_[i])] = name_.size() - 1 - i;
    }
  }

  /// Whether these bytes have it, and not as the end of a longer name. What a library has loaded
  /// may be read throughout, also what AddressSanitizer put between its constants: so this one is
  /// not instrumented, and calls nothing that is.
  [[gnu::no_sanitize_address]] bool is_in(const char* bytes, size_t size) const {
    const char* const name = name_.data();
    const size_t length = name_.size();
    for (size_t at = 0; at + length <= size;) {
      const char* const place = bytes + at;
      size_t same = 0;
      while (same < length && place[same] == name[same]) ++same;
      if (same == length && (at == 0 || !ascii::word(place[-1]))) return true;
      at += skips_.data()[static_cast<unsigned char>(place[length - 1])];
    }
    return false;
  }

 private:
  std::string name_;
  std::array<size_t, 256> skips_{};
};

#ifdef __APPLE__

std::string library_that_has(const Searcher& searcher) {
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    const mach_header* const header = _dyld_get_image_header(i);
    const char* const path = _dyld_get_image_name(i);
    if (header == nullptr || path == nullptr || header->filetype == MH_EXECUTE) continue;
    const MachoHeader image = read_macho_header(header);
    // Constants lie in __TEXT as well.
    if (!image.valid || image.text_bytes == 0) continue;
    if (searcher.is_in(reinterpret_cast<const char*>(header), image.text_bytes)) return path;
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
    if (!search.searcher.is_in(begin, segment.p_filesz)) continue;
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
  return library_that_has(Searcher(name));
}

}  // namespace mpsprobe
