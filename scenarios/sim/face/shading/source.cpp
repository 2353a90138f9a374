#include <shaders/kernels_text.h>

#include <algorithm>
#include <cctype>

#include "harness/wire/ascii.h"
#include "scenarios/sim/face/shading/shader.h"

namespace mpsprobe::sim::face {
namespace {

bool is_space(char each) {
  return std::isspace(static_cast<unsigned char>(each)) != 0;
}

// Without comments and with one space for each gap.
std::string plain(std::string_view source) {
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.substr(i, 2) == "//") i = std::min(source.find('\n', i), source.size() - 1);
    if (!is_space(source[i])) {
      text += source[i];
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  return text;
}

// Behind the brace that closes the first one from `begin` on.
size_t end_of_body(const std::string& text, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
  }
  return text.size();
}

std::vector<std::string> parameters_of(const std::string& text) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = text.find(" [[buffer(", at)) != std::string::npos; ++at) {
    size_t begin = at;
    while (begin > 0 && ascii::word(text[begin - 1])) --begin;
    const size_t index = std::strtoul(text.c_str() + at + sizeof(" [[buffer(") - 1, nullptr, 10);
    if (names.size() <= index) names.resize(index + 1);
    names[index] = text.substr(begin, at - begin);
  }
  return names;
}

}  // namespace

std::vector<ShaderFunction> functions_of(std::string_view source) {
  constexpr std::string_view kBegin = "kernel void ";
  const std::string text = plain(source);
  std::vector<ShaderFunction> functions;
  for (size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos;) {
    const size_t end = end_of_body(text, at);
    const size_t name = at + kBegin.size();
    ShaderFunction function{.name = text.substr(name, text.find('(', name) - name),
                            .text = text.substr(at, end - at)};
    function.parameters = parameters_of(function.text);
    functions.push_back(std::move(function));
    at = end;
  }
  return functions;
}

std::string why_not_compiled(std::string_view source) {
  static const std::vector<ShaderFunction> known = functions_of(kKernelsText);
  const std::vector<ShaderFunction> asked = functions_of(source);
  if (asked.empty()) return "the simulated device finds no kernel in this text";
  for (const ShaderFunction& each : asked) {
    const bool same = std::any_of(known.begin(), known.end(), [&](const ShaderFunction& ours) {
      return ours.name == each.name && ours.text == each.text;
    });
    if (!same) {
      return "the simulated device compiles nothing: it has the kernels of "
             "scenarios/shaders/kernels.metal, and " +
             each.name + " is none of them as it stands there";
    }
  }
  return "";
}

}  // namespace mpsprobe::sim::face
