#include "harness/signature/cxx_name.h"

#include <algorithm>
#include <utility>

#include "harness/signature/ascii.h"
#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

// The word "operator", and in parentheses the symbol behind it, where there is one. "+ 32" behind a
// name is an offset.
const Shape& operator_word() {
  static const Shape shape(
      R"((?<![\w$])operator(?![\w$])((?: +(?!\+ ))?)"
      R"((?:->\*|<=>|<<=|>>=|\(\)|\[\]|->|<<|>>|[-+*/%^&|!=<>]=|&&|\|\||\+\+|--|[-+*/%^&|~!=<>,]|""))?)");
  return shape;
}

}  // namespace

size_t bracketed_length(std::string_view text) {
  constexpr std::string_view kOpening = "(<[{";
  constexpr std::string_view kClosing = ")>]}";
  std::string open;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == 'o') {
      if (const auto word = operator_word().match(text, i)) i = word->end - 1;
    } else if (kOpening.find(c) != std::string_view::npos) {
      open += c;
    } else if (c == '>') {
      if (open.back() == '<' && text[i - 1] != '-') open.pop_back();
    } else if (const size_t kind = kClosing.find(c); kind != std::string_view::npos) {
      // A '<' that nothing closed was a comparison.
      while (!open.empty() && open.back() == '<') open.pop_back();
      if (!open.empty() && open.back() == kOpening[kind]) open.pop_back();
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
    while (name_.ends_with("::")) name_.resize(name_.size() - 2);
    return std::move(name_);
  }

 private:
  std::string_view rest() const { return text_.substr(i_); }
  void end() { i_ = text_.size(); }
  bool begun() const { return !name_.empty() || in_lambda_; }

  void keep(std::string_view part) {
    name_ += part;
    in_lambda_ = false;
  }

  void step() {
    // What follows a name: a version ("f@plt"), an offset or a line ("f+0x1c", "f:12"), what
    // compilers append to a copy of a function, and debuggers cut.
    static const Shape kEnd(
        R"(@|\+\d|(?<!:):\d|\.(?:cold|isra\.|part\.|constprop\.|llvm\.|lto_priv|clone\.|)"
        R"(omp_outlined|(?:isra|part|constprop|\d+)$))");
    // What calls a lambda.
    static const Shape kCall(R"(::(?:operator\(\)|__invoke|_FUN))");
    const char c = text_[i_];
    if (c == ' ') return take_space();
    if (std::string_view("(<[{'$").find(c) != std::string_view::npos) return take_bracketed();
    if (const auto call = kCall.match(text_, i_); call && in_lambda_) {
      i_ = call->end;
    } else if (const auto word = operator_word().match(text_, i_)) {
      take_operator(*word);
    } else if (begun() && kEnd.match(text_, i_)) {
      end();
    } else {
      keep(rest().substr(0, 1));
      ++i_;
    }
  }

  // Arguments, template arguments, and namespaces and lambdas without a name, as demanglers and
  // compilers write them. A lambda counts as the function that it is written in.
  void take_bracketed() {
    static const Shape kUnnamed(R"((?:<unnamed>|\{anonymous\}|\(anonymous namespace\))(?:::)?)");
    static const Shape kLambda(
        R"(<lambda|\{lambda|\{\{closure|\(lambda at |\(anonymous class\)|'lambda|\$_\d+)");
    const auto unnamed = kUnnamed.match(text_, i_);
    const auto lambda = kLambda.match(text_, i_);
    const char c = text_[i_];
    if (unnamed) {
      i_ = unnamed->end;
      return;
    }
    if (c == '$') {
      if (!lambda) keep("$");
      i_ = lambda ? lambda->end : i_ + 1;
    } else if (c == '\'') {
      const size_t close = rest().find('\'', 1);
      i_ += close == std::string_view::npos ? 1 : close + 1;
    } else {
      const bool keyword = name_ == "decltype" || name_ == "noexcept";
      if (c == '(' && !lambda && !keyword && begun()) arguments_ = true;
      leave_out();
    }
    in_lambda_ = in_lambda_ || lambda.has_value();
  }

  void leave_out() {
    const size_t length = bracketed_length(rest());
    if (length == 0) return end();
    i_ += length;
  }

  // A space ends a return type, or the name.
  void take_space() {
    static const Shape kQualifier(R"((?:const|volatile|&&?)(?=::|[ &]))");
    static const Shape kTail(R"([-+@] |\[|(?:in|at) |\((?!anonymous))");
    i_ = std::min(text_.find_first_not_of(' ', i_), text_.size());
    if (!begun()) return;
    if (arguments_) {
      // A local entity: "f(int) const::{lambda()#1}".
      const auto qualifier = kQualifier.match(text_, i_);
      i_ = qualifier ? qualifier->end : text_.size();
      return;
    }
    // "decltype (...) std::construct_at<...>(...)": a return type, as gdb writes it.
    if (name_ == "decltype" && ascii::at(text_, i_) == '(') return leave_out();
    if (kTail.match(text_, i_)) return end();
    if (i_ == text_.size()) return;
    name_.clear();
    in_lambda_ = false;
  }

  void take_operator(const ShapeMatch& word) {
    keep("operator");
    i_ = word.end;
    if (word.inner_begin > word.begin) {
      const std::string_view symbol =
          text_.substr(word.inner_begin, word.inner_end - word.inner_begin);
      keep(symbol.substr(symbol.find_first_not_of(' ')));
      // "operator< <int>": demanglers part the two.
      const size_t next = text_.find_first_not_of(' ', i_);
      if (next != std::string_view::npos && text_[next] == '<') i_ = next;
      return;
    }
    // "operator new[]", "operator unsigned long", "operator at::Tensor"
    static const Shape kBehind(R"(\(| [+@] )");
    while (i_ < text_.size() && !kBehind.match(text_, i_)) {
      if (text_[i_] == '<') {
        leave_out();
      } else {
        keep(rest().substr(0, 1));
        ++i_;
      }
    }
  }

  std::string_view text_;
  size_t i_ = 0;
  std::string name_;
  bool in_lambda_ = false;  ///< what was taken last is one, and its arguments
  bool arguments_ = false;
};

}  // namespace

std::string cxx_name(std::string_view text) {
  return CxxName(text).take();
}

}  // namespace mpsprobe
