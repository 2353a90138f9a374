#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe::sim::face {

/// A kernel of kernels.metal, compiled as C++. Static storage.
struct Shader {
  std::string_view name;
  std::string_view operation;  ///< the entry of the simulated device's table whose defects it meets
  size_t buffers;              ///< it takes the buffers 0 to buffers - 1
  /// Runs it for `threads` elements on what is bound to each buffer; `wrong_numbers` overwrites
  /// what it wrote, as a defect asks for. Any thread.
  void (*run)(std::span<char* const> bound, size_t threads, bool wrong_numbers);
};

/// The shader of that name, or nullptr.
const Shader* find_shader(std::string_view name);

/// A kernel function of a text in Metal's language.
struct ShaderFunction {
  std::string name;
  std::string text;                     ///< with single spaces, from `kernel` to the last brace
  std::vector<std::string> parameters;  ///< names of its buffers, by their index
};

/// The kernel functions of `source`, in their order.
std::vector<ShaderFunction> functions_of(std::string_view source);

/// What stands in the way of `source`: a kernel that is none of kernels.metal, word for word. Empty
/// where nothing does: nothing else is compiled here.
std::string why_not_compiled(std::string_view source);

}  // namespace mpsprobe::sim::face
