#pragma once

#include <string>
#include <string_view>

#include "scenarios/comparison/values.h"

namespace mpsprobe {

/// What an operation says of its shape.
struct ShapeForm {
  std::string_view operation;   ///< its name
  std::string_view shape;       ///< the default, "8x64x64"
  std::string_view dimensions;  ///< what the sizes mean, "batch x in x out"; "any" where free
};

/// The sizes that a cell's `shape` asks for ("default" or "8x64x64"). Throws UnsupportedError that
/// names the form where the text, the number of sizes or a size is not possible; sizes of more than
/// 2^31 elements in total are refused.
Sizes read_shape(const ShapeForm& form, std::string_view shape);

/// Throws UnsupportedError: `problem` with this shape, and what the operation takes.
[[noreturn]] void refuse_shape(const ShapeForm& form, std::string_view shape,
                               std::string_view problem);

}  // namespace mpsprobe
