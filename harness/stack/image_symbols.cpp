#include "harness/stack/image_symbols.h"

#include <utility>

namespace mpsprobe {

std::unique_ptr<ImageSymbols> open_image_symbols(const std::string& path,
                                                 const std::string& image_id) {
  std::optional<ImageFile> file = ImageFile::open(path);
  if (!file) return open_system_symbols(path, image_id);
  if (file->read(0, 4) == "\177ELF") return open_elf_symbols(std::move(*file), path, image_id);
  return open_macho_symbols(*file, image_id);
}

std::string image_literals(const std::string& path, const std::optional<std::string>& image_id) {
  if (image_id && image_id->empty()) return "";
  std::optional<ImageFile> file = ImageFile::open(path);
  if (!file) return image_id ? system_literals(path, *image_id) : "";
  if (file->read(0, 4) == "\177ELF") return elf_literals(std::move(*file), image_id);
  return macho_literals(*file, image_id);
}

#ifndef __APPLE__
std::string system_literals(const std::string& /*path*/, const std::string& /*image_id*/) {
  return "";
}
std::unique_ptr<ImageSymbols> open_system_symbols(const std::string& /*path*/,
                                                  const std::string& /*image_id*/) {
  return nullptr;
}
#endif
#ifndef __linux__
std::string elf_literals(ImageFile /*file*/, const std::optional<std::string>& /*image_id*/) {
  return "";
}
std::unique_ptr<ImageSymbols> open_elf_symbols(ImageFile /*file*/, const std::string& /*path*/,
                                               const std::string& /*image_id*/) {
  return nullptr;
}
#endif

}  // namespace mpsprobe
