#pragma once

#include <span>
#include <string_view>

namespace mpsprobe {

/// An operation of the workers' tables as the programs say it. Placeholders as in `filled`, and $R,
/// the root of what $1 (of a convolution: of the terms) comes to. Static storage.
struct Recipe {
  std::string_view op;
  std::string_view shape = "64x64";  ///< sizes where the cell leaves them at their default
  /// "x = at::randn({$S})": tensors of each thread, and those that threads may share. Each goes to
  /// the device (`on`) from the CPU.
  std::string_view inputs = "x = at::randn({$S})";
  std::string_view weights = "";
  std::string_view call;
  std::string_view python = "";  ///< where it is not the same but for the names; "-": there is none
  std::string_view setup = "";   ///< of C++: what the call names
  bool random = false;           ///< the numbers differ each time
  bool linear = false;  ///< ends in aten::linear: the layout of the weights chooses the path
  /// For MPSGraph: shapes of the inputs, the result's, how the graph is built of in0, in1, ...;
  /// element i of the first input of a thread whose number is x (empty: x itself), the others being
  /// all 1; and element i of its result, another one than any other thread's.
  std::string_view graph_inputs = "";
  std::string_view graph_result = "";
  std::string_view graph_build = "";
  std::string_view graph_input = "";
  std::string_view graph_expected = "";
};

/// The recipe of an operation, or nullptr.
const Recipe* find_recipe(std::string_view op);

}  // namespace mpsprobe
