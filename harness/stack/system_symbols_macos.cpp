#ifdef __APPLE__
#include <dlfcn.h>
#include <mach-o/dyld.h>
#include <mach-o/loader.h>

#include <string_view>

#include "harness/provenance/macho_header.h"
#include "harness/stack/image_symbols.h"
#include "harness/wire/hex.h"

// The system's own libraries have no files: they live in the dyld shared cache, which the kernel
// maps at one address into every process until the next boot. So the runner can look at its own
// copy of an image that the worker had loaded, once their UUIDs are the same.
// As <mach-o/getsect.h> declares it, which not every SDK has.
extern "C" uint8_t* getsectiondata(const mach_header_64*, const char*, const char*, unsigned long*);

namespace mpsprobe {
namespace {

/// Loading an image runs its initialisers, and the path comes from a child: only folders that the
/// system itself protects from being written to.
bool is_system_path(std::string_view path) {
  return (path.starts_with("/System/Library/") || path.starts_with("/usr/lib/")) &&
         path.find("/../") == std::string_view::npos;
}

const mach_header_64* loaded_header(std::string_view path) {
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    const char* name = _dyld_get_image_name(i);
    const mach_header* header = _dyld_get_image_header(i);
    if (name != nullptr && path == name && header != nullptr && header->magic == MH_MAGIC_64) {
      return reinterpret_cast<const mach_header_64*>(header);
    }
  }
  return nullptr;
}

class SystemSymbols : public ImageSymbols {
 public:
  explicit SystemSymbols(const mach_header_64* header) : header_(header) {}

  std::vector<StackFrame> frames_at(uint64_t offset) override {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const char*>(header_) + offset, &info) == 0) return {};
    if (info.dli_fbase != header_ || info.dli_sname == nullptr) return {};
    const std::string_view name = info.dli_sname;
    // What the system calls a function whose name it does not give away.
    if (name.empty() || name == "<redacted>") return {};
    StackFrame frame;
    frame.function = name;
    return {frame};
  }

 private:
  const mach_header_64* header_;
};

/// The image in this process; null where it is another one than was asked for.
const mach_header_64* same_image(const std::string& path, const std::string& image_id) {
  if (!is_system_path(path)) return nullptr;
  // Never closed: an image of the shared cache takes no memory of its own, and stays where it is.
  if (dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD) == nullptr &&
      dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    return nullptr;
  }
  const mach_header_64* header = loaded_header(path);
  if (header == nullptr || hex(read_macho_header(header).uuid) != image_id) return nullptr;
  return header;
}

}  // namespace

std::unique_ptr<ImageSymbols> open_system_symbols(const std::string& path,
                                                  const std::string& image_id) {
  const mach_header_64* header = same_image(path, image_id);
  return header == nullptr ? nullptr : std::make_unique<SystemSymbols>(header);
}

std::string system_literals(const std::string& path, const std::string& image_id) {
  const mach_header_64* header = same_image(path, image_id);
  std::string literals;
  for (const char* section : {"__cstring", "__oslogstring", "__objc_methname"}) {
    unsigned long bytes = 0;
    const uint8_t* data =
        header == nullptr ? nullptr : getsectiondata(header, "__TEXT", section, &bytes);
    if (data == nullptr) continue;
    literals.append(reinterpret_cast<const char*>(data), bytes);
    literals += '\0';
  }
  return literals;
}

}  // namespace mpsprobe
#endif
