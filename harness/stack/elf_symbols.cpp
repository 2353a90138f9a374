#ifdef __linux__
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "harness/stack/function_table.h"
#include "harness/stack/image_symbols.h"
#include "harness/wire/hex.h"

namespace mpsprobe {
namespace {

// Where distributions install debug information that they take out of the files themselves.
constexpr std::string_view kDebugFolder = "/usr/lib/debug";

/// Above this size a file is mapped, because reading its debug information would take too much
/// memory; up to it, it is read, and does no harm where it is cut short meanwhile.
constexpr uint64_t kMostBytesRead = uint64_t{1} << 30;

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

/// An ELF file that libelf has opened.
class ElfFile {
 public:
  static std::optional<ElfFile> open(ImageFile file) {
    if (elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
    const Elf_Cmd how = file.size() > kMostBytesRead ? ELF_C_READ_MMAP : ELF_C_READ;
    std::unique_ptr<Elf, EndElf> elf(elf_begin(file.fd(), how, nullptr));
    if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return std::nullopt;
    return ElfFile(std::move(file), std::move(elf));
  }

  Elf* get() const { return elf_.get(); }

  std::string build_id() const {
    const void* id = nullptr;
    const ssize_t bytes = dwelf_elf_gnu_build_id(elf_.get(), &id);
    return bytes > 0 ? hex({static_cast<const uint8_t*>(id), static_cast<size_t>(bytes)})
                     : std::string();
  }

  /// The section of this type that has its contents in this file.
  Elf_Scn* section(uint32_t type) const {
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf_.get(), section)) != nullptr) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) return section;
    }
    return nullptr;
  }

  /// To be called when all that is wanted has been read.
  void close() {
    elf_cntl(elf_.get(), ELF_C_FDDONE);
    file_.reset();
  }

 private:
  ElfFile(ImageFile file, std::unique_ptr<Elf, EndElf> elf)
      : file_(std::move(file)), elf_(std::move(elf)) {}

  std::optional<ImageFile> file_;
  std::unique_ptr<Elf, EndElf> elf_;
};

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

std::vector<AddressRange> sections_of(Elf* elf) {
  std::vector<AddressRange> ranges;
  Elf_Scn* section = nullptr;
  ranges.emplace_back();  // index 0 stands for no section
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    const bool loaded =
        gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_ALLOC) != 0;
    ranges.push_back(loaded ? AddressRange{header.sh_addr, header.sh_addr + header.sh_size}
                            : AddressRange{});
  }
  return ranges;
}

std::string_view contents(Elf_Scn* section) {
  const Elf_Data* data = section != nullptr ? elf_getdata(section, nullptr) : nullptr;
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

/// The functions of a symbol table. Reading it once into a table of our own is what makes looking
/// up cheap: libdw's way goes through all symbols for every address.
FunctionTable read_functions(const ElfFile& file, uint32_t type) {
  Elf_Scn* section = file.section(type);
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return FunctionTable();
  Elf_Data* symbols = elf_getdata(section, nullptr);
  const size_t symbol_bytes = gelf_fsize(file.get(), ELF_T_SYM, 1, EV_CURRENT);
  if (symbols == nullptr || symbols->d_buf == nullptr || symbol_bytes == 0) return FunctionTable();

  const std::vector<AddressRange> sections = sections_of(file.get());
  FunctionTable functions(contents(elf_getscn(file.get(), header.sh_link)));
  const size_t count = symbols->d_size / symbol_bytes;
  for (size_t i = 0; i < count && i < INT32_MAX; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(symbols, static_cast<int>(i), &symbol) == nullptr) break;
    const auto kind = GELF_ST_TYPE(symbol.st_info);
    if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    FunctionTable::Entry entry;
    entry.begin = symbol.st_value;
    entry.sized = symbol.st_size != 0;
    const AddressRange within =
        symbol.st_shndx < sections.size() ? sections[symbol.st_shndx] : AddressRange{0, UINT64_MAX};
    if (entry.begin < within.begin || entry.begin >= within.end) continue;
    const uint64_t most = within.end - entry.begin;
    if (!entry.sized && within.end == UINT64_MAX) continue;
    entry.end = entry.begin + (entry.sized ? std::min<uint64_t>(symbol.st_size, most) : most);
    entry.name = symbol.st_name;
    entry.exported = GELF_ST_BIND(symbol.st_info) != STB_LOCAL;
    functions.add(entry);
  }
  functions.finish();
  return functions;
}

/// The debug information that was split off from the file at `path`. Only a file with the same
/// build id is believed. libdwfl would look in more places, and ask servers.
std::optional<ElfFile> open_debug_file(const ElfFile& file, const std::string& path) {
  const std::string id = file.build_id();
  if (id.size() < 4) return std::nullopt;
  const std::string debug_folder(kDebugFolder);
  std::vector<std::string> places{debug_folder + "/.build-id/" + id.substr(0, 2) + '/' +
                                  id.substr(2) + ".debug"};
  GElf_Word checksum = 0;
  const char* link = dwelf_elf_gnu_debuglink(file.get(), &checksum);
  if (link != nullptr && std::string_view(link).find('/') == std::string_view::npos) {
    const std::string folder = std::filesystem::path(path).parent_path().string() + '/';
    places.insert(places.end(),
                  {folder + link, folder + ".debug/" + link, debug_folder + folder + link});
  }
  for (const std::string& place : places) {
    std::optional<ImageFile> opened = ImageFile::open(place);
    if (!opened) continue;
    std::optional<ElfFile> debug = ElfFile::open(std::move(*opened));
    if (debug && debug->build_id() == id) return debug;
  }
  return std::nullopt;
}

class ElfSymbols : public ImageSymbols {
 public:
  ElfSymbols(ElfFile file, const std::string& path) : file_(std::move(file)) {
    places_ = open_dwarf_places(file_.get());
    functions_ = read_functions(file_, SHT_SYMTAB);
    if (functions_.empty() || places_ == nullptr) {
      std::optional<ElfFile> debug = open_debug_file(file_, path);
      if (debug) debug_file_.emplace(std::move(*debug));
    }
    if (debug_file_ && places_ == nullptr) places_ = open_dwarf_places(debug_file_->get());
    if (debug_file_ && functions_.empty()) functions_ = read_functions(*debug_file_, SHT_SYMTAB);
    if (functions_.empty()) functions_ = read_functions(file_, SHT_DYNSYM);
    // A campaign looks at hundreds of images: descriptors are not kept.
    file_.close();
    if (debug_file_) debug_file_->close();
  }

  std::vector<StackFrame> frames_at(uint64_t offset) override {
    std::string_view name = functions_.find(offset);
    name = name.substr(0, name.find('@'));  // the version: "read@@GLIBC_2.2.5"
    std::vector<StackFrame> frames;
    if (places_ != nullptr) frames = places_->frames_at(offset);
    if (name.empty()) return frames;
    if (frames.empty()) frames.emplace_back();
    // From the symbol table where there is one, so that a function has the same name with debug
    // information and without.
    frames.back().function = name;
    return frames;
  }

 private:
  // In this order: what comes later points into what comes first.
  ElfFile file_;
  std::optional<ElfFile> debug_file_;
  std::unique_ptr<ImageSymbols> places_;
  FunctionTable functions_;
};

}  // namespace

std::unique_ptr<ImageSymbols> open_elf_symbols(ImageFile file, const std::string& path,
                                               const std::string& image_id) {
  std::optional<ElfFile> elf = ElfFile::open(std::move(file));
  if (!elf || elf->build_id() != image_id) return nullptr;
  return std::make_unique<ElfSymbols>(std::move(*elf), path);
}

std::string elf_literals(ImageFile file, const std::optional<std::string>& image_id) {
  std::optional<ElfFile> elf = ElfFile::open(std::move(file));
  size_t names = 0;
  if (!elf || (image_id && elf->build_id() != *image_id) ||
      elf_getshdrstrndx(elf->get(), &names) != 0)
    return "";
  std::string literals;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf->get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf->get(), names, header.sh_name);
    if (name == nullptr || !std::string_view(name).starts_with(".rodata")) continue;
    literals += contents(section);
    literals += '\0';
  }
  return literals;
}

}  // namespace mpsprobe
#endif
