#pragma once

#include <string_view>

#include "scenarios/operations/operation.h"

namespace mpsprobe {

/// The sizes that a cell's `shape` asks of an operation ("default" or "8x64x64"). Throws
/// UnsupportedError that names the form where the text, the number of sizes or a size is not
/// possible; sizes of more than 2^31 elements in total are refused.
Sizes read_sizes(const Operation& operation, std::string_view shape);

/// The type that a cell's `dtype` asks of an operation ("default" or a name). Throws
/// UnsupportedError that lists the possible ones.
at::ScalarType read_dtype(const Operation& operation, std::string_view dtype);

/// "float32", as in Python; "unknown" for a type that no operation offers.
std::string_view name_of(at::ScalarType dtype);

}  // namespace mpsprobe
