#include "harness/title/operator_names.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

constexpr std::string_view kNames[] = {
#include "harness/title/operator_names.inc"
};
static_assert(std::is_sorted(std::begin(kNames), std::end(kNames)));

// The same as in tools/signatures/operator-names.
constexpr std::string_view kBefore[] = {"mkldnn_",  "linalg_", "sparse_",  "native_", "quantized_",
                                        "qnnpack_", "miopen_", "cudnn_",   "mps_",    "nested_",
                                        "foreach_", "fused_",  "special_", "fft_",    "to_"};
// A longer ending in front of one that it ends in.
constexpr std::string_view kBehind[] = {"_double_backward",
                                        "_backward",
                                        "_batch_rule",
                                        "_copy",
                                        "_cpu",
                                        "_cuda",
                                        "_dense",
                                        "_ex",
                                        "_forward",
                                        "_impl",
                                        "_input",
                                        "_kernel",
                                        "_meta",
                                        "_mps",
                                        "_names",
                                        "_out",
                                        "_scatter",
                                        "_sparse",
                                        "_symint",
                                        "_",
                                        "_transpose",
                                        "_weights",
                                        "1d",
                                        "2d",
                                        "3d"};

bool begins_later(std::string_view& name) {
  for (std::string_view before : kBefore) {
    if (name.size() <= before.size() + 1 || !name.starts_with(before)) continue;
    name.remove_prefix(before.size());
    return true;
  }
  return false;
}

}  // namespace

bool is_operator_name(std::string_view name) {
  constexpr size_t kLongest = 80;
  while (name.starts_with('_')) name.remove_prefix(1);
  if (name.size() > kLongest) return false;
  do {
    std::string_view shorter = name;
    do {
      if (std::binary_search(std::begin(kNames), std::end(kNames), shorter)) return true;
    } while (ascii::take_ending(shorter, kBehind, 2));
  } while (begins_later(name));
  return false;
}

}  // namespace mpsprobe
