#include "reproducers/emit/parameter_block.h"

#include <utility>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

constexpr std::string_view kBegin = "---- parameters: begin\n";
constexpr std::string_view kEnd = "---- parameters: end\n";
constexpr const char* kRemedy = "Install mpsprobe anew: its programs belong to this release";

}  // namespace

ParameterBlock::ParameterBlock(std::string text, std::string place)
    : text_(std::move(text)), place_(std::move(place)) {
  const size_t begin = text_.find(kBegin);
  if (begin == std::string::npos || text_.find(kEnd, begin) == std::string::npos) {
    throw InputError(place_, "has no block of parameters", kRemedy);
  }
}

void ParameterBlock::set(std::string_view name, std::string_view value) {
  const size_t end_of_block = text_.find(kEnd);
  const std::string assigned = std::string(name) + " = ";
  size_t at = text_.find(assigned, text_.find(kBegin));
  // The whole name: "kIn = " is also the end of another.
  while (at < end_of_block && text_[at - 1] != ' ' && text_[at - 1] != '\n') {
    at = text_.find(assigned, at + 1);
  }
  if (at >= end_of_block) {
    throw InputError(place_, "has no parameter " + std::string(name), kRemedy);
  }
  const size_t from = at + assigned.size();
  size_t to = text_.find('\n', from);
  if (text_[to - 1] == '{') {
    to = text_.find("\n};\n", to) + 2;  // keeps the semicolon
  } else {
    const size_t comment = text_.find("  //", from);
    const size_t semicolon = text_.rfind(';', comment < to ? comment : to);
    if (semicolon != std::string::npos && semicolon > from) to = semicolon;
  }
  text_.replace(from, to - from, value);
}

}  // namespace mpsprobe
