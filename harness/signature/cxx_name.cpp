#include "harness/signature/cxx_name.h"

#include <array>

#include "harness/signature/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;

// Stands for a lambda while a name is put together. Never in a result: input is printable.
constexpr char kLambda = '\x01';

bool word(char c) {
  return ascii::word(c) || c == '$';
}
size_t skip_spaces(std::string_view text, size_t i) {
  while (at(text, i) == ' ') ++i;
  return i;
}

// Characters of the operator's symbol at the front of `text`, the longest that fits; 0: none.
size_t symbol_length(std::string_view text) {
  static constexpr std::array<std::string_view, 40> kSymbols{
      "->*", "<=>", "<<=", ">>=", "()", "[]", "->", "<<", ">>", "<=", ">=", "==",  "!=", "&&",
      "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+",   "-",  "*",
      "/",   "%",   "^",   "&",   "|",  "~",  "!",  "=",  "<",  ">",  ",",  "\"\""};
  for (std::string_view symbol : kSymbols) {
    if (text.starts_with(symbol)) return symbol.size();
  }
  return 0;
}

bool operator_at(std::string_view text, size_t i) {
  constexpr std::string_view kOperator = "operator";
  return text.substr(i).starts_with(kOperator) && !word(at(text, i + kOperator.size())) &&
         (i == 0 || !word(text[i - 1]));
}

}  // namespace

size_t bracketed_length(std::string_view text) {
  std::string open;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == 'o' && operator_at(text, i)) {
      i = skip_spaces(text, i + 8);
      const size_t symbol = symbol_length(text.substr(i));
      i += symbol;
      --i;
      continue;
    }
    if (c == '(' || c == '<' || c == '[' || c == '{') {
      open += c;
    } else if (c == '>') {
      if (open.back() == '<' && text[i - 1] != '-') open.pop_back();
    } else if (c == ')' || c == ']' || c == '}') {
      const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
      // A '<' that nothing closed was a comparison.
      while (!open.empty() && open.back() == '<' && partner != '<') open.pop_back();
      if (!open.empty() && open.back() == partner) open.pop_back();
    }
    if (open.empty()) return i + 1;
  }
  return 0;
}

namespace {

// Takes a C++ name apart from left to right; what it keeps is a subsequence of the text.
class CxxName {
 public:
  explicit CxxName(std::string_view text) : text_(text) {}

  std::string take() {
    while (i_ < text_.size()) step();
    while (name_.ends_with(' ')) name_.pop_back();
    return without_lambdas();
  }

 private:
  std::string_view rest() const { return text_.substr(i_); }
  void end() { i_ = text_.size(); }

  void step() {
    const char c = text_[i_];
    if (c == 'o' && operator_at(text_, i_)) return take_operator();
    switch (c) {
      case '<':
        if (take_unnamed("<unnamed>")) return;
        return leave_out(rest().starts_with("<lambda"));
      case '{':
        if (take_unnamed("{anonymous}")) return;
        return leave_out(rest().starts_with("{lambda") || rest().starts_with("{{closure"));
      case '[':
        return leave_out(false);
      case '(':
        return take_parentheses();
      case '\'':
        return take_quoted();
      case '$':
        if (at(text_, i_ + 1) == '_' && digit(at(text_, i_ + 2))) {
          for (i_ += 2; digit(at(text_, i_));) ++i_;
          name_ += kLambda;
          return;
        }
        break;
      case ' ':
        return take_space();
      case '.':
        if (clone_suffix()) return end();
        break;
      case '@':
        return end();  // "@plt", "@@GLIBC_2.34"
      case '+':        // an offset, or a line: "f+0x1c", "f:12"
        if (digit(at(text_, i_ + 1)) && !name_.empty()) return end();
        break;
      case ':':
        if (digit(at(text_, i_ + 1)) && !name_.empty() && name_.back() != ':') return end();
        break;
      default:
        break;
    }
    name_ += c;
    ++i_;
  }

  void leave_out(bool lambda) {
    const size_t length = bracketed_length(rest());
    if (length == 0) return end();
    if (lambda) name_ += kLambda;
    i_ += length;
  }

  // A namespace without a name, as demanglers and compilers write it.
  bool take_unnamed(std::string_view name) {
    if (!rest().starts_with(name)) return false;
    i_ += name.size();
    if (rest().starts_with("::")) i_ += 2;
    return true;
  }

  void take_parentheses() {
    if (take_unnamed("(anonymous namespace)")) return;
    const std::string_view inside = rest().substr(1);
    const bool lambda = inside.starts_with("lambda at ") || inside.starts_with("anonymous class)");
    const bool keyword = name_ == "decltype" || name_ == "noexcept";
    if (!lambda && !keyword && !name_.empty()) arguments_ = true;
    leave_out(lambda);
  }

  void take_quoted() {
    const size_t close = rest().find('\'', 1);
    if (close == std::string_view::npos) {
      ++i_;
      return;
    }
    if (rest().substr(1, close - 1).starts_with("lambda")) name_ += kLambda;
    i_ += close + 1;
  }

  // A space ends a return type, or the name.
  void take_space() {
    i_ = skip_spaces(text_, i_);
    if (name_.empty()) return;
    if (arguments_) {
      // A local entity: "f(int) const::{lambda()#1}".
      for (std::string_view qualifier : {"const", "volatile", "&&", "&"}) {
        if (!rest().starts_with(qualifier)) continue;
        const size_t next = i_ + qualifier.size();
        if (text_.substr(next).starts_with("::")) {
          i_ = next;
          return;
        }
        if (at(text_, next) == ' ' || at(text_, next) == '&') {
          i_ = next;
          return;
        }
      }
      return end();
    }
    // "decltype (...) std::construct_at<...>(...)": a return type, as gdb writes it.
    if (at(text_, i_) == '(' && name_ == "decltype") return leave_out(false);
    for (std::string_view tail : {"+ ", "- ", "@ ", "[", "in ", "at "}) {
      if (rest().starts_with(tail)) return end();
    }
    if (at(text_, i_) == '(' && !rest().starts_with("(anonymous")) return end();
    if (i_ < text_.size()) name_.clear();
  }

  bool clone_suffix() const {
    if (name_.empty()) return false;
    for (std::string_view suffix : {".cold", ".isra.", ".part.", ".constprop.", ".llvm.",
                                    ".lto_priv", ".clone.", ".omp_outlined"}) {
      if (rest().starts_with(suffix)) return true;
    }
    // As some debuggers cut them: "take.constprop".
    if (rest() == ".constprop" || rest() == ".isra" || rest() == ".part") return true;
    const size_t after = text_.find_first_not_of("0123456789", i_ + 1);
    return digit(at(text_, i_ + 1)) && after == std::string_view::npos;
  }

  void take_operator() {
    name_ += "operator";
    i_ += 8;
    const size_t symbol_at = skip_spaces(text_, i_);
    if (const size_t length = symbol_length(text_.substr(symbol_at)); length > 0) {
      const bool parted = symbol_at > i_;
      // "operator <int>" and the like: a space that a demangler put, or "+ 32" behind a name.
      if (parted && text_.substr(symbol_at).starts_with("+ ")) return end();
      name_ += text_.substr(symbol_at, length);
      i_ = symbol_at + length;
      // "operator< <int>": demanglers part the two.
      const size_t next = skip_spaces(text_, i_);
      if (at(text_, next) == '<') i_ = next;
      return;
    }
    // "operator new[]", "operator unsigned long", "operator at::Tensor"
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (c == '(' || rest().starts_with(" + ") || rest().starts_with(" @ ")) return;
      if (c == '<') {
        const size_t length = bracketed_length(rest());
        if (length == 0) return end();
        i_ += length;
        continue;
      }
      name_ += c;
      ++i_;
    }
  }

  // A lambda counts as the function that it is written in.
  std::string without_lambdas() {
    std::string result;
    bool lambda_before = false;
    for (size_t i = 0; i < name_.size();) {
      const std::string_view left = std::string_view(name_).substr(i);
      if (left[0] == kLambda) {
        lambda_before = true;
        ++i;
      } else if (lambda_before && left.starts_with("::operator()")) {
        i += 12;
      } else if (lambda_before && left.starts_with("::__invoke")) {
        i += 10;
      } else if (lambda_before && left.starts_with("::_FUN")) {
        i += 6;
      } else {
        lambda_before = false;
        result += left[0];
        ++i;
      }
    }
    while (result.ends_with("::")) result.resize(result.size() - 2);
    return result;
  }

  std::string_view text_;
  size_t i_ = 0;
  std::string name_;
  bool arguments_ = false;
};

}  // namespace

std::string cxx_name(std::string_view text) {
  return CxxName(text).take();
}

}  // namespace mpsprobe
