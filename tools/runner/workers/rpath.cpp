#include "tools/runner/workers/rpath.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

// The few fields that are read, at the offsets of the formats' specifications (ELF gABI; Mach-O's
// loader.h), not by the system's headers: each system has those of its own format alone. The sizes
// that a file claims are limited: it may be anything.
constexpr size_t kMostHeaderBytes = 1 << 20;
constexpr size_t kMostTextBytes = 64 * 1024;

static_assert(std::endian::native == std::endian::little);

class File {
 public:
  explicit File(const std::filesystem::path& path) : stream_(path, std::ios::binary) {}

  /// Exactly these bytes, or nothing.
  std::optional<std::string> read(uint64_t offset, uint64_t bytes) {
    if (bytes > kMostHeaderBytes) return std::nullopt;
    std::string text = read_up_to(offset, bytes);
    if (text.size() != bytes) return std::nullopt;
    return text;
  }
  std::string read_up_to(uint64_t offset, uint64_t bytes) {
    std::string text(bytes, '\0');
    if (offset > INT64_MAX) return "";
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(text.data(), static_cast<std::streamsize>(bytes));
    text.resize(stream_.gcount() > 0 ? static_cast<size_t>(stream_.gcount()) : 0);
    return text;
  }

 private:
  std::ifstream stream_;
};

/// A number at `offset`; 0 beyond the end.
template <typename Number>
Number at(std::string_view bytes, size_t offset) {
  Number number = 0;
  if (offset <= bytes.size() && sizeof(number) <= bytes.size() - offset) {
    std::memcpy(&number, bytes.data() + offset, sizeof(number));
  }
  return number;
}

std::vector<std::string> split_folders(std::string_view list) {
  std::vector<std::string> folders;
  for (const std::string_view folder : split(list, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

struct Segment {
  uint32_t type;
  uint64_t offset;
  uint64_t address;
  uint64_t bytes;
};

Rpath read_elf(File& file, std::string_view header) {
  constexpr uint32_t kLoad = 1;
  constexpr uint32_t kDynamic = 2;
  constexpr size_t kProgramHeaderBytes = 56;
  const auto table = file.read(at<uint64_t>(header, 0x20),
                               uint64_t{at<uint16_t>(header, 0x38)} * kProgramHeaderBytes);
  if (!table.has_value() || at<uint16_t>(header, 0x36) != kProgramHeaderBytes) return {};
  std::vector<Segment> segments;
  for (size_t i = 0; i < table->size(); i += kProgramHeaderBytes) {
    segments.push_back({at<uint32_t>(*table, i), at<uint64_t>(*table, i + 0x08),
                        at<uint64_t>(*table, i + 0x10), at<uint64_t>(*table, i + 0x20)});
  }
  std::optional<uint64_t> rpath;
  std::optional<uint64_t> runpath;
  uint64_t strings_address = 0;
  for (const Segment& segment : segments) {
    if (segment.type != kDynamic) continue;
    const auto entries = file.read(segment.offset, segment.bytes);
    if (!entries.has_value()) return {};
    for (size_t i = 0; i + 16 <= entries->size(); i += 16) {
      const auto tag = at<uint64_t>(*entries, i);
      const auto value = at<uint64_t>(*entries, i + 8);
      if (tag == 0) break;                    // DT_NULL
      if (tag == 5) strings_address = value;  // DT_STRTAB
      if (tag == 15) rpath = value;           // DT_RPATH
      if (tag == 29) runpath = value;         // DT_RUNPATH
    }
  }
  // Where there is a DT_RUNPATH, the loader ignores DT_RPATH.
  const std::optional<uint64_t> which = runpath.has_value() ? runpath : rpath;
  if (!which.has_value()) return {};
  for (const Segment& segment : segments) {
    if (segment.type != kLoad || strings_address < segment.address ||
        strings_address - segment.address >= segment.bytes) {
      continue;
    }
    const std::string text = file.read_up_to(
        segment.offset + (strings_address - segment.address) + *which, kMostTextBytes);
    return {split_folders(text.substr(0, text.find('\0'))), !runpath.has_value()};
  }
  return {};
}

Rpath read_mach_o(File& file, std::string_view header) {
  constexpr size_t kHeaderBytes = 32;
  constexpr uint32_t kRunPathCommand = 0x8000001c;  // LC_RPATH
  const auto commands = file.read(kHeaderBytes, at<uint32_t>(header, 20));
  if (!commands.has_value()) return {};
  Rpath path;
  for (size_t i = 0; i + 8 <= commands->size();) {
    const auto bytes = at<uint32_t>(*commands, i + 4);
    if (bytes < 8 || bytes > commands->size() - i) break;
    if (at<uint32_t>(*commands, i) == kRunPathCommand) {
      const auto offset = at<uint32_t>(*commands, i + 8);
      if (offset < bytes) {
        const std::string text = commands->substr(i + offset, bytes - offset);
        path.folders.push_back(text.substr(0, text.find('\0')));
      }
    }
    i += bytes;
  }
  return path;
}

}  // namespace

Rpath read_rpath(const std::filesystem::path& program) {
  File file(program);
  const auto header = file.read(0, 64);
  if (!header.has_value()) return {};
  const bool elf64 = header->starts_with("\177ELF\2\1");
  if (elf64) return read_elf(file, *header);
  if (at<uint32_t>(*header, 0) == 0xfeedfacf) return read_mach_o(file, *header);
  return {};
}

}  // namespace mpsprobe
