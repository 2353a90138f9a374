#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

// The types of elements, as frameworks and their kernels spell them. None throws; all look at a
// bounded part of what they are given, and may be called from any thread.

/// float16, bfloat16_t, uint8, si64, Half, ComplexFloat, MPSFloatType, FloatTensor.
bool is_element_type(std::string_view name);

/// Whether `digits` are an element's size in bits, as it stands behind the letters of its kind.
bool is_element_size(std::string_view digits);

/// The characters of the types at the front of `text`: torch.float16, c10::Half,
/// torch.cuda.FloatTensor, one of several (int32/int64), with a shape (float32[2,3]); and in front
/// of which `before` stands, of a word that is a type only there: "implemented for 'Long'", "scalar
/// type Int but found Double". 0: none.
size_t element_type_length(std::string_view text, std::string_view before);

}  // namespace mpsprobe
