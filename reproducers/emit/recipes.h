#pragma once

#include <span>
#include <string_view>

namespace mpsprobe {

/// An operation of the workers' tables as the programs say it. Texts with placeholders: $0, $1 ...
/// are the sizes, $S all of them with commas, $R the root of what $1 (of a convolution: of the
/// terms) comes to, $D the name of the type. Empty where a program cannot say it. Static storage.
struct Recipe {
  std::string_view op;
  std::string_view shape = "64x64";  ///< sizes where the cell leaves them at their default
  /// Lists of tensors on the CPU, and what is launched with them: x inputs, w weights.
  std::string_view inputs = "at::randn({$S})";
  std::string_view weights;
  std::string_view launch;
  std::string_view expected;  ///< of C++; empty: the same on the CPU
  std::string_view python_launch;
  std::string_view python_right;  ///< empty: the same on the CPU
  /// For MPSGraph: shapes of the inputs, the result's, how the graph is built of `in`; element i of
  /// the first input of a thread whose number is x (empty: x itself), the others being all 1; and
  /// element i of its result, another one than any other thread's.
  std::string_view graph_inputs;
  std::string_view graph_result;
  std::string_view graph_build;
  std::string_view graph_input;
  std::string_view graph_expected;
  bool linear = false;  ///< ends in aten::linear: the layout of the weights chooses the path
};

/// The recipe of an operation, or nullptr.
const Recipe* find_recipe(std::string_view op);

std::span<const Recipe> recipes();

}  // namespace mpsprobe
