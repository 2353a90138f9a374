#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/cell.h"

namespace mpsprobe {

/// "out of memory" for out_of_memory.
std::string words(std::string_view name);

/// What a group of cells is: operation and path first, then every axis that is not at its default:
/// "linear nograph, lock=forward". Axes named in `without` are left out; backend always is.
std::string cell_label(const Cell& cell, const std::vector<std::string_view>& without);

/// A label with its first three parts alone, for a sentence: "chain, stream=per-thread, ...".
std::string brief(const std::string& label);

}  // namespace mpsprobe
