#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// The text of a program of reproducers/programs, of which the values in the block of parameters
/// can be replaced and nothing else. A parameter is a line "... NAME = VALUE" between the lines
/// that hold "---- parameters: begin" and "---- parameters: end"; where that line opens a brace
/// without closing it, up to the line that is "};".
class ParameterBlock {
 public:
  /// `place` names the program in errors. Throws InputError where the text has no such block.
  ParameterBlock(std::string text, std::string place);

  /// Replaces the value of a parameter. In C++ a comment behind it stays. Throws InputError where
  /// the block has no such parameter.
  void set(std::string_view name, std::string_view value);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string place_;
};

}  // namespace mpsprobe
