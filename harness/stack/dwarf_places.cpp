#ifdef __linux__
#include "harness/stack/dwarf_places.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mpsprobe {
namespace {

// Deeper than any compiler nests; a bound for files that were made to nest for ever.
constexpr int kDeepest = 64;

/// Addresses, and what lies there. Ranges may lie inside others.
template <typename T>
class RangeMap {
 public:
  void add(uint64_t begin, uint64_t end, const T& value) {
    if (begin < end) ranges_.push_back({begin, end, value});
  }
  void finish() {
    std::stable_sort(ranges_.begin(), ranges_.end(),
                     [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }
  /// The last to begin of those that hold `address`.
  T* find(uint64_t address) {
    auto at = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                               [](uint64_t a, const Range& range) { return a < range.begin; });
    for (int step = 0; step < kDeepest && at != ranges_.begin(); ++step) {
      --at;
      if (address < at->end) return &at->value;
    }
    return nullptr;
  }

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
    T value;
  };
  std::vector<Range> ranges_;
};

/// Adds all ranges of the code of `die`.
template <typename T>
void add_ranges(Dwarf_Die* die, const T& value, RangeMap<T>& map) {
  ptrdiff_t next = 0;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  while ((next = dwarf_ranges(die, next, &base, &begin, &end)) > 0) map.add(begin, end, value);
}

/// The children of a DIE, one after the other: each lies behind the one before, or the file is
/// damaged and the list ends there.
class Children {
 public:
  explicit Children(Dwarf_Die* parent) { here_ = dwarf_child(parent, &die_) == 0; }
  Dwarf_Die* get() { return here_ ? &die_ : nullptr; }
  void next() {
    const Dwarf_Off before = dwarf_dieoffset(&die_);
    Dwarf_Die sibling;
    here_ = dwarf_siblingof(&die_, &sibling) == 0 && dwarf_dieoffset(&sibling) > before;
    if (here_) die_ = sibling;
  }

 private:
  Dwarf_Die die_{};
  bool here_ = false;
};

struct Unit {
  Dwarf_Die die{};
  std::optional<RangeMap<Dwarf_Die>> functions;  // read when first asked for
};

void add_functions(Dwarf_Die* parent, int depth, RangeMap<Dwarf_Die>& functions) {
  for (Children child(parent); child.get() != nullptr; child.next()) {
    const int tag = dwarf_tag(child.get());
    if (tag == DW_TAG_subprogram) {
      add_ranges(child.get(), *child.get(), functions);
    } else if (tag == DW_TAG_namespace && depth < kDeepest) {
      add_functions(child.get(), depth + 1, functions);
    }
  }
}

/// The calls that were inlined at `address`, the outermost first.
void add_inlined(Dwarf_Die* parent, Dwarf_Addr address, int depth, std::vector<Dwarf_Die>& chain) {
  for (Children child(parent); child.get() != nullptr; child.next()) {
    const int tag = dwarf_tag(child.get());
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
    if (dwarf_haspc(child.get(), address) != 1) continue;
    Dwarf_Die inner = *child.get();
    if (tag == DW_TAG_inlined_subroutine) chain.push_back(inner);
    if (depth < kDeepest) add_inlined(&inner, address, depth + 1, chain);
    return;
  }
}

std::string linkage_name_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  const char* name = nullptr;
  if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != nullptr ||
      dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) != nullptr) {
    name = dwarf_formstring(&attribute);
  }
  return name != nullptr ? name : "";
}

/// Where the function was declared: the end of its abstract origins and specifications.
Dwarf_Die declaration_of(Dwarf_Die die) {
  for (int depth = 0; depth < kDeepest; ++depth) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr) {
      break;
    }
    if (dwarf_formref_die(&attribute, &next) == nullptr) break;
    die = next;
  }
  return die;
}

/// "space::Class::function", by the scopes around the declaration: compilers give no linkage name
/// to functions that exist only where they were inlined. Goes through all of the unit.
std::string scoped_name_of(Dwarf_Die declaration) {
  const char* own = dwarf_diename(&declaration);
  if (own == nullptr) return {};
  std::string name = own;
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&declaration, &scopes);
  const std::unique_ptr<Dwarf_Die, void (*)(void*)> freed(scopes, std::free);
  for (int i = 1; i < std::min(count, kDeepest); ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    const char* scope = dwarf_diename(&scopes[i]);
    if (tag == DW_TAG_namespace) {
      name = std::string(scope != nullptr ? scope : "(anonymous namespace)") + "::" + name;
    } else if (scope != nullptr && (tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
                                    tag == DW_TAG_union_type)) {
      name = std::string(scope) + "::" + name;
    }
  }
  return name;
}

/// "file.cpp:12". Without the folders: they tell of the machine that built the file.
std::string source(const char* file, uint64_t line) {
  if (file == nullptr || line == 0) return {};
  const std::string_view path = file;
  return std::string(path.substr(path.rfind('/') + 1)) + ':' + std::to_string(line);
}

std::string line_at(Dwarf_Die* unit, Dwarf_Addr address) {
  Dwarf_Line* line = dwarf_getsrc_die(unit, address);
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0) return {};
  return source(dwarf_linesrc(line, nullptr, nullptr), static_cast<uint64_t>(std::max(number, 0)));
}

std::optional<Dwarf_Word> number(Dwarf_Die* die, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, attribute_name, &attribute) == nullptr) return std::nullopt;
  if (dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

/// Where an inlined function was called.
std::string call_place(Dwarf_Die* unit, Dwarf_Die* inlined) {
  const std::optional<Dwarf_Word> file = number(inlined, DW_AT_call_file);
  const std::optional<Dwarf_Word> line = number(inlined, DW_AT_call_line);
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (!file || !line || dwarf_getsrcfiles(unit, &files, &count) != 0 || *file >= count) return {};
  return source(dwarf_filesrc(files, *file, nullptr, nullptr), *line);
}

/// Whether there is any, and its strings end where their sections do: libdw relies on that.
bool has_debug_information(Elf* elf) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  bool found = false;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    const std::string_view text = name != nullptr ? name : "";
    found = found || text == ".debug_info" || text == ".zdebug_info";
    if (text != ".debug_str" && text != ".debug_line_str") continue;
    if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0) return false;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size == 0) continue;
    if (static_cast<const char*>(data->d_buf)[data->d_size - 1] != '\0') return false;
  }
  return found;
}

/// Left to itself libdw ends the process, with a code that means something else here. To clang the
/// attribute is a part of the type that libdw asks for; `[[noreturn]]` is not.
__attribute__((noreturn)) void out_of_memory() {
  throw std::bad_alloc();
}

}  // namespace

class DwarfPlaces::Implementation {
 public:
  explicit Implementation(Dwarf* dwarf) : dwarf_(dwarf) {
    dwarf_new_oom_handler(dwarf_, out_of_memory);
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() { dwarf_end(dwarf_); }

  std::vector<StackFrame> frames_at(Dwarf_Addr address) {
    if (!read_) read_units();
    const size_t* index = unit_at_.find(address);
    if (index == nullptr) return {};
    Unit& unit = units_[*index];
    if (!unit.functions) {
      unit.functions.emplace();
      add_functions(&unit.die, 0, *unit.functions);
      unit.functions->finish();
    }
    Dwarf_Die* function = unit.functions->find(address);
    std::vector<Dwarf_Die> chain;
    if (function != nullptr) {
      chain.push_back(*function);
      add_inlined(function, address, 0, chain);
    }
    std::vector<StackFrame> frames;
    std::string place = line_at(&unit.die, address);
    for (auto die = chain.rbegin(); die != chain.rend(); ++die) {
      StackFrame& frame = frames.emplace_back();
      frame.function = function_name(&*die);
      frame.source = place;
      frame.inlined = die + 1 != chain.rend();
      if (frame.inlined) place = call_place(&unit.die, &*die);
    }
    if (frames.empty() && !place.empty()) frames.emplace_back().source = place;
    return frames;
  }

 private:
  std::string function_name(Dwarf_Die* die) {
    std::string linkage_name = linkage_name_of(die);
    if (!linkage_name.empty()) return linkage_name;
    Dwarf_Die declaration = declaration_of(*die);
    const Dwarf_Off offset = dwarf_dieoffset(&declaration);
    const auto known = scoped_names_.find(offset);
    if (known != scoped_names_.end()) return known->second;
    return scoped_names_.emplace(offset, scoped_name_of(declaration)).first->second;
  }

  void read_units() {
    read_ = true;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    // Without the last argument libdw leaves the files of split debug information (.dwo) alone:
    // their names come from the image, and could be anything.
    while (dwarf_get_units(dwarf_, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
      units_.push_back({die, std::nullopt});
    }
    for (size_t i = 0; i < units_.size(); ++i) add_ranges(&units_[i].die, i, unit_at_);
    unit_at_.finish();
  }

  Dwarf* dwarf_;
  bool read_ = false;
  std::vector<Unit> units_;
  RangeMap<size_t> unit_at_;
  std::unordered_map<Dwarf_Off, std::string> scoped_names_;
};

std::unique_ptr<DwarfPlaces> DwarfPlaces::open(Elf* elf) {
  if (!has_debug_information(elf)) return nullptr;
  Dwarf* dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  if (dwarf == nullptr) return nullptr;
  return std::unique_ptr<DwarfPlaces>(new DwarfPlaces(std::make_unique<Implementation>(dwarf)));
}

DwarfPlaces::DwarfPlaces(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
DwarfPlaces::~DwarfPlaces() = default;

std::vector<StackFrame> DwarfPlaces::frames_at(uint64_t address) {
  return implementation_->frames_at(address);
}

}  // namespace mpsprobe
#endif
