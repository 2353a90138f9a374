#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether PyTorch puts `name` in front of its messages: an operator's ("addmm", "narrow_copy",
/// "mkldnn_linear") or another function's ("flatten_indices"). The list, operator_names.inc, is
/// what tools/signatures/operator-names finds in PyTorch's releases 2.0.1, 2.6.0 and 2.15.0; what
/// is made of one of its names by the endings and beginnings of kernels counts as well. Never
/// throws; may be called from any thread.
bool is_operator_name(std::string_view name);

}  // namespace mpsprobe
