#include "harness/title/kernel_name.h"

#include "harness/title/operator_names.h"

namespace mpsprobe {
namespace {

// What kernels' names put behind an operator's; a longer ending in front of one that it ends in.
constexpr std::string_view kBehind[] = {"_contiguous", "_cpu",  "_cuda",    "_frame",      "_impl",
                                        "_kernel",     "_loop", "_mps",     "_single_out", "_out",
                                        "_structured", "_stub", "_template"};
constexpr std::string_view kBefore[] = {"structured_", "wrapper_CPU_", "wrapper_"};

bool shorten(std::string_view& name) {
  for (std::string_view behind : kBehind) {
    if (name.size() <= behind.size() || !name.ends_with(behind)) continue;
    name.remove_suffix(behind.size());
    return true;
  }
  return false;
}

}  // namespace

std::string operator_of_kernel(std::string_view function) {
  constexpr std::string_view kNative = "at::native::";
  constexpr std::string_view kImpl = "::impl";
  if (!function.starts_with(kNative)) return "";
  function.remove_prefix(kNative.size());
  if (function.ends_with(kImpl)) function.remove_suffix(kImpl.size());
  // A class, or a namespace of a backend's own.
  if (function.find("::") != std::string_view::npos) return "";
  for (std::string_view before : kBefore) {
    if (function.starts_with(before)) function.remove_prefix(before.size());
  }
  while (function.starts_with('_')) function.remove_prefix(1);
  while (shorten(function)) {
  }
  return is_operator_name(function) ? "aten::" + std::string(function) : "";
}

}  // namespace mpsprobe
