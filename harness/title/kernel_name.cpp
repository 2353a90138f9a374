#include "harness/title/kernel_name.h"

#include "harness/text/ascii.h"
#include "harness/title/operator_names.h"

namespace mpsprobe {
namespace {

// What kernels' names put behind an operator's; a longer ending in front of one that it ends in.
constexpr std::string_view kBehind[] = {
    "_contiguous", "_cpu", "_cuda",       "_frame", "_helper",     "_impl", "_internal", "_kernel",
    "_loop",       "_mps", "_single_out", "_out",   "_structured", "_stub", "_template"};
constexpr std::string_view kBefore[] = {
    "structured_", "wrapper_CPU_", "wrapper_",          "cpu_",
    "direct_",     "cascade_",     "vectorized_inner_", "vectorized_outer_"};
// Where the functions that hand a call on are: what follows is the operator's name.
constexpr std::string_view kHandsOn[] = {"at::_ops::", "torch::autograd::VariableType::",
                                         "torch::ADInplaceOrView::", "at::wrapper_CPU_"};

// An operator that works in place counts as the other: "add_"; "_softmax" as "softmax".
std::string aten(std::string_view name) {
  while (name.ends_with('_')) name.remove_suffix(1);
  while (name.starts_with('_')) name.remove_prefix(1);
  return name.empty() ? "" : "aten::" + std::string(name);
}

std::string operator_of(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  name = without_kernel_endings(name);
  return is_operator_name(name) ? aten(name) : "";
}

// "layer_norm_kernel" of "LayerNormKernel".
std::string in_small_letters(std::string_view name) {
  std::string small;
  for (char c : name) {
    if (ascii::upper(c) && !small.empty() && small.back() != '_') small += '_';
    small += ascii::to_lower(c);
  }
  return small;
}

}  // namespace

std::string_view without_kernel_endings(std::string_view name) {
  for (;;) {
    while (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);
    if (!ascii::take_ending(name, kBehind, 1)) return name;
  }
}

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
  const std::string name = operator_of(function);
  return name.empty() && ascii::upper(ascii::at(function, 0))
             ? operator_of(in_small_letters(function))
             : name;
}

std::string operator_of_call(std::string_view function) {
  for (std::string_view hands_on : kHandsOn) {
    if (!function.starts_with(hands_on)) continue;
    std::string_view name = function.substr(hands_on.size());
    name = name.substr(0, name.find("::"));  // npos takes it whole
    // The overload, which its author named: "mul_Scalar", "max_dim".
    for (std::string_view rest = name; !rest.empty(); rest = rest.substr(0, rest.rfind('_'))) {
      if (std::string found = operator_of(rest); !found.empty()) return found;
      if (rest.rfind('_') == std::string_view::npos) break;
    }
    return aten(name);
  }
  return "";
}

}  // namespace mpsprobe
