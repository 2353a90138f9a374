#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/folder/descriptor.h"
#include "harness/stack/stack.h"

struct Elf;

namespace mpsprobe {

/// An image file, read piece by piece and never mapped: a file that is cut short while it is looked
/// at (a rebuild) makes a read fail, where a mapping would end the runner by SIGBUS.
/// Move-only owner of its descriptor, which is close-on-exec.
class ImageFile {
 public:
  /// The regular file at `path`. Nothing where the path is not absolute, nothing readable is there,
  /// or it is no regular file: the path comes from a child, and may name a pipe or a device.
  static std::optional<ImageFile> open(const std::string& path);

  /// A file that is in memory, which must outlive this object.
  explicit ImageFile(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}

  /// Bytes in it when it was opened.
  uint64_t size() const { return size_; }
  /// -1: in memory. This object keeps it.
  int fd() const { return file_.get(); }
  /// All of `bytes` at `offset`, or false: they are not all there.
  bool read(uint64_t offset, void* to, uint64_t bytes) const;
  /// The bytes at `offset` as a string; empty where they are not all there.
  std::string read(uint64_t offset, uint64_t bytes) const;

 private:
  ImageFile(Descriptor file, uint64_t size) : file_(std::move(file)), size_(size) {}

  Descriptor file_;
  std::string_view bytes_;
  uint64_t size_ = 0;
};

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
/// from there. Never asks the network (debuginfod). On Linux alone.
std::unique_ptr<ImageSymbols> open_elf_symbols(ImageFile file, const std::string& path,
                                               const std::string& image_id);

/// Source lines and inlined functions of an ELF file, from its DWARF sections, by libdw (Linux).
/// Null where it has no debug information, which costs nothing but a look at its sections. `elf`
/// must outlive the object; its file may be closed after this call. The first question reads the
/// ranges of all compilation units.
std::unique_ptr<ImageSymbols> open_dwarf_places(Elf* elf);

/// A 64-bit Mach-O file, or the slice with this id of a universal one.
std::unique_ptr<ImageSymbols> open_macho_symbols(const ImageFile& file,
                                                 const std::string& image_id);

/// An image of macOS that exists in the system's shared cache alone. On macOS alone.
std::unique_ptr<ImageSymbols> open_system_symbols(const std::string& path,
                                                  const std::string& image_id);

// Literals of each of these, as of image_literals().
std::string elf_literals(ImageFile file, const std::optional<std::string>& image_id);
std::string macho_literals(const ImageFile& file, const std::optional<std::string>& image_id);
std::string system_literals(const std::string& path, const std::string& image_id);

}  // namespace mpsprobe
