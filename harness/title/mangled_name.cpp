#include "harness/title/mangled_name.h"

#include <algorithm>
#include <vector>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;

// "4sync" at text[i]: the name, with i behind it. Empty where there is none.
std::string_view take_identifier(std::string_view text, size_t& i) {
  size_t length = 0;
  size_t at_name = i;
  while (digit(at(text, at_name)) && length < 1000) {
    length = length * 10 + static_cast<size_t>(text[at_name++] - '0');
  }
  if (length == 0 || at_name + length > text.size()) return {};
  i = at_name + length;
  return text.substr(at_name, length);
}

bool rust_hash(std::string_view name) {
  return name.size() == 17 && name[0] == 'h' &&
         name.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

std::string joined(const std::vector<std::string_view>& names, std::string_view separator) {
  std::string result;
  for (std::string_view name : names) {
    if (!result.empty()) result += separator;
    result += name;
  }
  return result;
}

// Past the template arguments at text[i] == 'I'; i stays where they have no end.
void skip_arguments(std::string_view text, size_t& i) {
  constexpr std::string_view kOpening = "INXJF";
  size_t depth = 0;
  for (size_t k = i; k < text.size();) {
    if (digit(text[k])) {
      if (take_identifier(text, k).empty()) return;
      continue;
    }
    if (text[k] == 'L') {
      k = std::min(text.find('E', k), text.size());  // a literal: its digits are no length
    } else if (text[k] == 'S' && digit(at(text, k + 1))) {
      ++k;
    } else if (kOpening.find(text[k]) != std::string_view::npos) {
      ++depth;
    } else if (text[k] == 'E' && --depth == 0) {
      i = k + 1;
      return;
    }
    ++k;
  }
}

std::string cxx_name(std::string_view text) {
  std::vector<std::string_view> names;
  size_t i = 0;
  const bool nested = at(text, 0) == 'N';
  if (nested) ++i;
  while (std::string_view("KVrRO").find(at(text, i)) != std::string_view::npos && i < text.size()) {
    ++i;
  }
  if (text.substr(i).starts_with("St")) {
    names.push_back("std");
    i += 2;
  }
  do {
    if (at(text, i) == 'L') ++i;
    const std::string_view name = take_identifier(text, i);
    if (name.empty()) break;
    if (!rust_hash(name) && !name.starts_with("_GLOBAL__N_")) names.push_back(name);
    if (at(text, i) == 'I') skip_arguments(text, i);
  } while (nested);
  // A constructor or destructor has the name of its class.
  const char kind = at(text, i);
  const bool own =
      nested && !names.empty() && (kind == 'C' || kind == 'D') && digit(at(text, i + 1));
  std::string result = joined(names, "::");
  if (own) result += (kind == 'C' ? "::" : "::~") + std::string(names.back());
  // Where an operator or a substitution follows, the scope alone would name another function.
  const bool whole = own || kind == 'E' || (!nested && !names.empty());
  return whole ? result : "";
}

std::string swift_name(std::string_view text) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < text.size();) {
    const std::string_view name = take_identifier(text, i);
    if (name.empty()) break;
    names.push_back(name);
    // The kind of what was named: a class, a structure, an enumeration, a protocol.
    if (std::string_view("CVOP").find(at(text, i)) != std::string_view::npos) ++i;
  }
  return names.size() < 2 ? std::string() : joined(names, ".");
}

}  // namespace

std::string plain_name(std::string_view name) {
  for (std::string_view lead : {"___Z", "__Z", "_Z"}) {
    if (name.starts_with(lead)) return cxx_name(name.substr(lead.size()));
  }
  for (std::string_view lead : {"_$s", "$s", "_$S", "$S"}) {
    if (name.starts_with(lead)) return swift_name(name.substr(lead.size()));
  }
  return "";
}

std::string_view without_rust_hash(std::string_view name) {
  const size_t last = name.rfind("::");
  const bool hash = last != std::string_view::npos && rust_hash(name.substr(last + 2));
  return hash ? name.substr(0, last) : name;
}

}  // namespace mpsprobe
