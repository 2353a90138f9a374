#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/stack/image_file.h"
#include "harness/stack/stack.h"

namespace mpsprobe {

/// What one image file tells of the functions in it. Not safe to use from several threads at once.
class ImageSymbols {
 public:
  ImageSymbols() = default;
  ImageSymbols(const ImageSymbols&) = delete;
  ImageSymbols& operator=(const ImageSymbols&) = delete;
  virtual ~ImageSymbols() = default;

  /// The functions whose code holds the byte at `offset` from the image's load address: inlined
  /// ones first, then the one that they were compiled into. Only `function` (as the linker spells
  /// it), `source` and `inlined` are filled. Empty where nothing is known.
  virtual std::vector<StackFrame> frames_at(uint64_t offset) = 0;
};

/// Reads the file at `path`, an ELF or Mach-O image as its first bytes tell, or what the system
/// knows of the image where it keeps no file of it. Null where there is neither, the image has
/// another id than `image_id` (both may be empty), or it is damaged.
std::unique_ptr<ImageSymbols> open_image_symbols(const std::string& path,
                                                 const std::string& image_id);

/// What the image at `path` holds of literals, for what it may have printed: its read-only data,
/// which end at zero bytes. Without an id of whatever image is there; else empty where
/// open_image_symbols() gives null.
std::string image_literals(const std::string& path, const std::optional<std::string>& image_id);

/// An ELF file, by libdw. `path` is where `file` was opened: separate debug files are looked for
/// from there. Never asks the network (debuginfod). Null on systems other than Linux.
std::unique_ptr<ImageSymbols> open_elf_symbols(ImageFile file, const std::string& path,
                                               const std::string& image_id);

/// A 64-bit Mach-O file, or the slice with this id of a universal one.
std::unique_ptr<ImageSymbols> open_macho_symbols(const ImageFile& file,
                                                 const std::string& image_id);

/// An image of macOS that exists in the system's shared cache alone. Null on other systems.
std::unique_ptr<ImageSymbols> open_system_symbols(const std::string& path,
                                                  const std::string& image_id);

// Literals of each of these, as of image_literals().
std::string elf_literals(ImageFile file, const std::optional<std::string>& image_id);
std::string macho_literals(const ImageFile& file, const std::optional<std::string>& image_id);
std::string system_literals(const std::string& path, const std::string& image_id);

}  // namespace mpsprobe
