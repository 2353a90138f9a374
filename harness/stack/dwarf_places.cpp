#ifdef __linux__
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "harness/stack/image_symbols.h"

namespace mpsprobe {
namespace {

// Deeper than any compiler nests; a bound for files that were made to nest for ever.
constexpr int kDeepest = 64;

/// Whether code may lie below a DIE that has no addresses of its own.
bool holds_code(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_module;
}

bool is_function(int tag) {
  return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram;
}

/// Adds the functions below `parent` that are at `address`, the innermost first. `left` is how many
/// DIEs are looked at: a damaged file may lead round in a circle. Not by dwarf_getscopes(), which
/// passes over namespaces, where clang puts the functions of them.
bool add_functions(Dwarf_Die* parent, Dwarf_Addr address, int depth, int64_t& left,
                   std::vector<Dwarf_Die>& functions) {
  Dwarf_Die die;
  if (depth > kDeepest || dwarf_child(parent, &die) != 0) return false;
  do {
    if (--left < 0) return false;
    const int tag = dwarf_tag(&die);
    const bool is_code = is_function(tag) || tag == DW_TAG_lexical_block ||
                         tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
    if (is_code ? dwarf_haspc(&die, address) <= 0 : !holds_code(tag)) continue;
    const bool found = add_functions(&die, address, depth + 1, left, functions);
    // A function within another was called like any other.
    const bool whole = !functions.empty() && dwarf_tag(&functions.back()) == DW_TAG_subprogram;
    if (is_function(tag) && !whole) functions.push_back(die);
    if (found || is_code) return true;
  } while (dwarf_siblingof(&die, &die) == 0);
  return false;
}

/// The function at `address`, behind those that were inlined there, the innermost first.
std::vector<Dwarf_Die> functions_at(Dwarf_Die* unit, Dwarf_Addr address) {
  constexpr int64_t kMostLookedAt = 4'000'000;
  std::vector<Dwarf_Die> functions;
  int64_t left = kMostLookedAt;
  add_functions(unit, address, 0, left, functions);
  return functions;
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
  Dwarf_Die* found = nullptr;
  const int count = dwarf_getscopes_die(&declaration, &found);
  const std::unique_ptr<Dwarf_Die[], void (*)(void*)> scopes(found, std::free);
  // From the inside out; the first is the function itself.
  for (int i = 1; i < std::min(count, kDeepest); ++i) {
    const int tag = dwarf_tag(&scopes[static_cast<size_t>(i)]);
    const char* scope = dwarf_diename(&scopes[static_cast<size_t>(i)]);
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

/// Not safe to use from several threads at once.
class DwarfPlaces : public ImageSymbols {
 public:
  explicit DwarfPlaces(Dwarf* dwarf) : dwarf_(dwarf, dwarf_end) {
    dwarf_new_oom_handler(dwarf, out_of_memory);
  }

  std::vector<StackFrame> frames_at(uint64_t address) override {
    if (!read_) read_units();
    auto unit = std::upper_bound(units_.begin(), units_.end(), address,
                                 [](uint64_t a, const Unit& each) { return a < each.begin; });
    if (unit == units_.begin() || address >= (--unit)->end) return {};
    std::vector<StackFrame> frames;
    std::string place = line_at(&unit->die, address);
    for (Dwarf_Die& die : functions_at(&unit->die, address)) {
      StackFrame& frame = frames.emplace_back();
      frame.function = function_name(&die);
      frame.source = place;
      frame.inlined = dwarf_tag(&die) == DW_TAG_inlined_subroutine;
      if (frame.inlined) place = call_place(&unit->die, &die);
    }
    if (frames.empty() && !place.empty()) frames.emplace_back().source = place;
    return frames;
  }

 private:
  /// A range of the code of a compilation unit.
  struct Unit {
    Dwarf_Addr begin;
    Dwarf_Addr end;
    Dwarf_Die die;
  };

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
    while (dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
      ptrdiff_t next = 0;
      Dwarf_Addr base = 0;
      Dwarf_Addr begin = 0;
      Dwarf_Addr end = 0;
      while ((next = dwarf_ranges(&die, next, &base, &begin, &end)) > 0) {
        if (begin < end) units_.push_back({begin, end, die});
      }
    }
    std::stable_sort(units_.begin(), units_.end(),
                     [](const Unit& a, const Unit& b) { return a.begin < b.begin; });
  }

  std::unique_ptr<Dwarf, int (*)(Dwarf*)> dwarf_;
  bool read_ = false;
  std::vector<Unit> units_;
  std::unordered_map<Dwarf_Off, std::string> scoped_names_;
};

}  // namespace

std::unique_ptr<ImageSymbols> open_dwarf_places(Elf* elf) {
  if (!has_debug_information(elf)) return nullptr;
  Dwarf* dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  return dwarf == nullptr ? nullptr : std::make_unique<DwarfPlaces>(dwarf);
}

}  // namespace mpsprobe
#endif
