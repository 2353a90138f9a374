#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/stack/stack.h"

struct Elf;

namespace mpsprobe {

/// Source lines and inlined functions, from the DWARF sections of an ELF file, by libdw (Linux).
/// Not safe to use from several threads at once.
class DwarfPlaces {
 public:
  /// Null where the file has no debug information; that costs nothing but a look at its sections.
  /// `elf` must outlive the object; its file may be closed after this call.
  static std::unique_ptr<DwarfPlaces> open(Elf* elf);

  DwarfPlaces(const DwarfPlaces&) = delete;
  DwarfPlaces& operator=(const DwarfPlaces&) = delete;
  ~DwarfPlaces();

  /// As ImageSymbols::frames_at. The first question reads the ranges of all compilation units, the
  /// first one about a unit the ranges of its functions.
  std::vector<StackFrame> frames_at(uint64_t address);

 private:
  class Implementation;
  explicit DwarfPlaces(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace mpsprobe
