#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace mpsprobe {

/// Whether this is what a virtual machine on a Mac calls its GPU ("Apple Paravirtual device"), its
/// processor ("Apple M1 (Virtual)") or itself ("VirtualMac2,1"). Hosted Mac runners are such
/// machines. Their GPU is a class of its own: never pooled with a real chip, nor quoted as one. A
/// worker that must not touch Metal before its cell does can name the processor alone, so each of
/// the three counts.
inline bool names_paravirtual(std::string_view name) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"Apple Paravirtual", "(Virtual)", "VirtualMac"},
      [name](std::string_view mark) { return name.find(mark) != std::string_view::npos; });
}

}  // namespace mpsprobe
