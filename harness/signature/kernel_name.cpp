#include "harness/signature/kernel_name.h"

#include "harness/signature/ascii.h"

namespace mpsprobe {
namespace {

// What kernels' names put behind an operator's; a longer ending in front of one that it ends in.
constexpr std::string_view kBehind[] = {"_contiguous", "_cpu",      "_cuda",   "_helper",
                                        "_impl",       "_internal", "_kernel", "_mps",
                                        "_out_frame",  "_out",      "_stub",   "_template"};
constexpr std::string_view kBefore[] = {
    "structured_", "cpu_", "direct_", "cascade_", "vectorized_inner_", "vectorized_outer_"};
// Where the functions that hand a call on are: what follows is the operator's name.
constexpr std::string_view kHandsOn[] = {"at::_ops::", "torch::autograd::VariableType::",
                                         "torch::ADInplaceOrView::", "at::wrapper_CPU_"};

// An operator that works in place counts as the other: "add_"; "_softmax" as "softmax".
std::string aten(std::string_view name) {
  while (name.ends_with('_')) name.remove_suffix(1);
  while (name.starts_with('_')) name.remove_prefix(1);
  return name.empty() ? "" : "aten::" + std::string(name);
}

// Of a name that says by its ending, or by what was taken off its front, that it is an operator's
// kernel.
std::string operator_of(std::string_view name, bool says_so = false) {
  while (name.starts_with('_')) name.remove_prefix(1);
  const std::string_view bare = without_kernel_endings(name);
  return says_so || bare.size() < name.size() ? aten(bare) : "";
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
  bool says_so = false;
  for (std::string_view before : kBefore) {
    if (!function.starts_with(before)) continue;
    function.remove_prefix(before.size());
    says_so = true;
  }
  const std::string name = operator_of(function, says_so);
  return name.empty() && ascii::upper(ascii::at(function, 0))
             ? operator_of(in_small_letters(function))
             : name;
}

std::string operator_of_call(std::string_view function) {
  for (std::string_view hands_on : kHandsOn) {
    if (!function.starts_with(hands_on)) continue;
    std::string_view name = function.substr(hands_on.size());
    name = name.substr(0, name.find("::"));  // npos takes it whole
    // The overload, which begins with a type: "mul_Scalar".
    for (size_t bar = name.find('_', 1); bar != std::string_view::npos;
         bar = name.find('_', bar + 1)) {
      if (ascii::upper(ascii::at(name, bar + 1))) name = name.substr(0, bar);
    }
    name = without_kernel_endings(name);
    return aten(name);
  }
  return "";
}

}  // namespace mpsprobe
