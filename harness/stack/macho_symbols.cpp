// Mach-O as Apple's <mach-o/loader.h>, <mach-o/nlist.h> and <mach-o/fat.h> lay it out, read without
// these headers, so that the reader runs, and is fuzzed, on every system. All values are little
// endian but for the header of universal files. Nothing in the file is trusted.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "harness/stack/function_table.h"
#include "harness/stack/image_symbols.h"
#include "harness/wire/hex.h"

namespace mpsprobe {
namespace {

constexpr uint32_t kMagic64 = 0xfeedfacf;
constexpr uint32_t kFatMagic = 0xcafebabe;
constexpr uint32_t kFatMagic64 = 0xcafebabf;
constexpr uint32_t kMostSlices = 32;
constexpr uint64_t kMostCommandBytes = 16 << 20;

constexpr uint32_t kCommandSymbolTable = 0x2;
constexpr uint32_t kCommandSegment64 = 0x19;
constexpr uint32_t kCommandUuid = 0x1b;
constexpr uint32_t kCommandFunctionStarts = 0x26;
constexpr size_t kHeaderBytes = 32;
constexpr size_t kSegmentBytes = 72;
constexpr size_t kSectionBytes = 80;
constexpr size_t kSymbolBytes = 16;
constexpr uint32_t kSectionHoldsCode = 0x80000400;  // pure or some instructions
constexpr uint32_t kSectionType = 0xff;
constexpr uint32_t kSectionHoldsLiterals = 0x2;  // S_CSTRING_LITERALS

constexpr uint8_t kTypeDebug = 0xe0;  // N_STAB
constexpr uint8_t kTypeMask = 0x0e;   // N_TYPE
constexpr uint8_t kTypeSection = 0x0e;
constexpr uint8_t kTypeExternal = 0x01;

/// The number of type T at `at`, which the caller has checked to be inside.
template <typename T>
T number(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  static_assert(std::endian::native == std::endian::little);
  return value;
}

template <typename T>
T big_endian(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value << 8 | static_cast<uint8_t>(bytes[at + i]));
  }
  return value;
}

/// A name in a field of 16 bytes.
std::string_view field_name(std::string_view bytes, size_t at) {
  const std::string_view field = bytes.substr(at, 16);
  return field.substr(0, field.find('\0'));
}

/// A part of the file, or of such a part.
struct Slice {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct Section {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool code = false;
  Slice literals;  ///< in the file, where it holds nothing else
};

/// What the load commands say.
struct Layout {
  std::string id;
  std::optional<uint64_t> text;   // address of __TEXT, where the header is loaded
  std::vector<Section> sections;  // by their ordinal, from 1
  Slice symbols;
  Slice strings;
  Slice starts;
};

void read_segment(std::string_view command, Layout& layout) {
  const bool text = field_name(command, 8) == "__TEXT";
  if (text && !layout.text) layout.text = number<uint64_t>(command, 24);
  const uint64_t sections = number<uint32_t>(command, 64);
  for (uint64_t i = 0; i < sections; ++i) {
    const size_t at = kSegmentBytes + i * kSectionBytes;
    if (at + kSectionBytes > command.size()) return;
    Section section;
    section.begin = number<uint64_t>(command, at + 32);
    const auto size = number<uint64_t>(command, at + 40);
    section.end = section.begin + size;
    section.code = text && section.end >= section.begin &&
                   (number<uint32_t>(command, at + 64) & kSectionHoldsCode) != 0;
    if ((number<uint32_t>(command, at + 64) & kSectionType) == kSectionHoldsLiterals) {
      section.literals = {number<uint32_t>(command, at + 48), size};
    }
    layout.sections.push_back(section);
  }
}

std::optional<Layout> read_layout(const ImageFile& file, const Slice& slice) {
  const std::string header = file.read(slice.offset, std::min<uint64_t>(slice.bytes, kHeaderBytes));
  if (header.size() != kHeaderBytes || number<uint32_t>(header, 0) != kMagic64) return std::nullopt;
  const uint64_t bytes = number<uint32_t>(header, 20);
  if (bytes > slice.bytes - kHeaderBytes || bytes > kMostCommandBytes) return std::nullopt;
  const std::string commands = file.read(slice.offset + kHeaderBytes, bytes);

  Layout layout;
  std::string_view rest = commands;
  while (rest.size() >= 8) {
    const auto kind = number<uint32_t>(rest, 0);
    const size_t size = number<uint32_t>(rest, 4);
    if (size < 8 || size > rest.size()) return std::nullopt;
    const std::string_view command = rest.substr(0, size);
    rest.remove_prefix(size);
    if (kind == kCommandUuid && size >= 24) {
      layout.id = hex({reinterpret_cast<const uint8_t*>(command.data()) + 8, 16});
    } else if (kind == kCommandSegment64 && size >= kSegmentBytes) {
      read_segment(command, layout);
    } else if (kind == kCommandSymbolTable && size >= 24) {
      layout.symbols = {number<uint32_t>(command, 8),
                        number<uint32_t>(command, 12) * uint64_t{kSymbolBytes}};
      layout.strings = {number<uint32_t>(command, 16), number<uint32_t>(command, 20)};
    } else if (kind == kCommandFunctionStarts && size >= 16) {
      layout.starts = {number<uint32_t>(command, 8), number<uint32_t>(command, 12)};
    }
  }
  return layout;
}

std::string read_extent(const ImageFile& file, const Slice& slice, const Slice& extent) {
  if (extent.offset > slice.bytes || extent.bytes > slice.bytes - extent.offset) return {};
  return file.read(slice.offset + extent.offset, extent.bytes);
}

/// Offsets from __TEXT where functions begin, also those whose symbols were stripped: ULEB128
/// numbers, each the distance from the one before, up to a zero.
std::vector<uint64_t> function_starts(std::string_view bytes) {
  std::vector<uint64_t> starts;
  uint64_t offset = 0;
  uint64_t distance = 0;
  unsigned shift = 0;
  for (const char byte : bytes) {
    if (shift > 56) break;
    distance |= uint64_t{static_cast<uint8_t>(byte) & 0x7fU} << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if (distance == 0 || offset + distance < offset) break;
    offset += distance;
    starts.push_back(offset);
    distance = 0;
    shift = 0;
  }
  return starts;
}

class MachoSymbols : public ImageSymbols {
 public:
  MachoSymbols(const ImageFile& file, const Slice& slice, const Layout& layout)
      : strings_(read_extent(file, slice, layout.strings)), functions_(strings_) {
    const std::string symbols = read_extent(file, slice, layout.symbols);
    const std::vector<uint64_t> starts = function_starts(read_extent(file, slice, layout.starts));
    for (size_t at = 0; at + kSymbolBytes <= symbols.size(); at += kSymbolBytes) {
      add(std::string_view(symbols).substr(at, kSymbolBytes), layout, starts);
    }
    functions_.finish();
  }

  std::vector<StackFrame> frames_at(uint64_t offset) override {
    std::string_view name = functions_.find(offset);
    if (name.empty()) return {};
    // The C compiler puts an underscore before every name; methods of Objective-C have none.
    if (name.front() == '_') name.remove_prefix(1);
    StackFrame frame;
    frame.function = name;
    return {frame};
  }

 private:
  void add(std::string_view symbol, const Layout& layout, const std::vector<uint64_t>& starts) {
    const auto type = number<uint8_t>(symbol, 4);
    if ((type & kTypeDebug) != 0 || (type & kTypeMask) != kTypeSection) return;
    const size_t ordinal = number<uint8_t>(symbol, 5);
    if (ordinal == 0 || ordinal > layout.sections.size()) return;
    const Section& section = layout.sections[ordinal - 1];
    const auto address = number<uint64_t>(symbol, 8);
    if (!section.code || address < section.begin || address >= section.end ||
        address < *layout.text) {
      return;
    }
    // Mach-O tells no sizes. Where the functions begin keeps a stripped function from being given
    // the name of the last one before it that has a name.
    FunctionTable::Entry entry;
    entry.begin = address - *layout.text;
    entry.end = section.end - *layout.text;
    const auto next = std::upper_bound(starts.begin(), starts.end(), entry.begin);
    if (next != starts.end()) entry.end = std::min(entry.end, *next);
    entry.name = number<uint32_t>(symbol, 0);
    entry.exported = (type & kTypeExternal) != 0;
    entry.sized = false;
    functions_.add(entry);
  }

  std::string strings_;
  FunctionTable functions_;
};

/// The images in the file: one, or those of a universal file.
std::vector<Slice> slices_of(const ImageFile& file) {
  const std::string head = file.read(0, 8);
  if (head.empty()) return {};
  const auto magic = big_endian<uint32_t>(head, 0);
  if (magic != kFatMagic && magic != kFatMagic64) return {{0, file.size()}};
  const bool wide = magic == kFatMagic64;
  const size_t entry_bytes = wide ? 32 : 20;
  const uint32_t count = std::min(big_endian<uint32_t>(head, 4), kMostSlices);
  std::vector<Slice> slices;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string entry = file.read(8 + i * entry_bytes, entry_bytes);
    if (entry.empty()) break;
    const Slice slice =
        wide ? Slice{big_endian<uint64_t>(entry, 8), big_endian<uint64_t>(entry, 16)}
             : Slice{big_endian<uint32_t>(entry, 8), big_endian<uint32_t>(entry, 12)};
    if (slice.offset <= file.size() && slice.bytes <= file.size() - slice.offset) {
      slices.push_back(slice);
    }
  }
  return slices;
}

}  // namespace

std::unique_ptr<ImageSymbols> open_macho_symbols(const ImageFile& file,
                                                 const std::string& image_id) {
  for (const Slice& slice : slices_of(file)) {
    const std::optional<Layout> layout = read_layout(file, slice);
    if (layout && layout->text && layout->id == image_id) {
      return std::make_unique<MachoSymbols>(file, slice, *layout);
    }
  }
  return nullptr;
}

std::string macho_literals(const ImageFile& file, const std::optional<std::string>& image_id) {
  std::string literals;
  for (const Slice& slice : slices_of(file)) {
    const std::optional<Layout> layout = read_layout(file, slice);
    if (!layout || (image_id && layout->id != *image_id)) continue;
    for (const Section& section : layout->sections) {
      literals += read_extent(file, slice, section.literals);
      literals += '\0';
    }
    break;
  }
  return literals;
}

}  // namespace mpsprobe
