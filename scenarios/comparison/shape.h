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
  /// What is wrong with these sizes, or an empty text. nullptr: nothing more can be wrong.
  std::string_view (*refuse)(const Sizes&) = nullptr;
};

/// The sizes that a cell's `shape` asks for ("default" or "8x64x64"). Throws UnsupportedError that
/// names the form where the text, the number of sizes or a size is not possible; sizes of more than
/// 2^31 elements in total are refused.
Sizes read_shape(const ShapeForm& form, std::string_view shape);

}  // namespace mpsprobe
