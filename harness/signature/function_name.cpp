#include "harness/signature/function_name.h"

#include <algorithm>
#include <utility>

#include "harness/signature/shape.h"
#include "harness/stack/symboliser.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostOfName = 4096;
constexpr size_t kLongestFunction = 120;
constexpr size_t kLongestImage = 80;

// The text without what the shape fits.
std::string without(const Shape& shape, std::string_view text) {
  std::string kept;
  for (size_t i = 0; i < text.size();) {
    const auto match = shape.match(text, i);
    if (match && match->end > i) {
      i = match->end;
    } else {
      kept += text[i++];
    }
  }
  return kept;
}

// The word "operator", and in parentheses the symbol behind it, where there is one. "+ 32" behind a
// name is an offset.
const Shape& operator_word() {
  static const Shape shape(
      R"((?<![\w$])operator(?![\w$])((?: +(?!\+ ))?)"
      R"((?:->\*|<=>|<<=|>>=|\(\)|\[\]|->|<<|>>|[-+*/%^&|!=<>]=|&&|\|\||\+\+|--|[-+*/%^&|~!=<>,]|""))?)");
  return shape;
}

// Length of the bracketed part at the front of `text`, brackets of every kind inside it included;
// 0 where it has no end. "operator<", "->" and comparisons inside brackets close nothing.
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

// Takes a demangled C++ function apart from left to right: without return type, arguments, template
// arguments, lambdas, anonymous namespaces, clones and offsets. What it keeps is a subsequence of
// the text. Linear.
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

// The function that a block is written in: "__43-[Class run]_block_invoke.12", "__f_block_invoke".
std::string_view without_block(std::string_view text) {
  constexpr std::string_view kInvoke = "_block_invoke";
  const size_t found = text.find(kInvoke);
  if (found == std::string_view::npos) return text;
  size_t nested = 0;
  for (size_t i = found; text.substr(i).starts_with(kInvoke); i += kInvoke.size()) ++nested;
  std::string_view name = text.substr(0, found);
  for (size_t i = 0; i < 2 * nested && name.starts_with('_'); ++i) name.remove_prefix(1);
  static const Shape kNumber(R"(\d+(?=[-+]))");
  if (const auto number = kNumber.match(name, 0)) name.remove_prefix(number->end);
  return name.empty() ? text.substr(0, found) : name;
}

// What compilers put in front of a copy of a function, and debuggers: "libtorch_cpu.dylib`at::add".
std::string_view without_leads(std::string_view text) {
  static const Shape kLead(
      R"([\w.+-]+`|invocation function for block in |partial apply (?:forwarder )?for |@objc |)"
      R"(merged |closure #.*? in |generic specialization <.*?> of )");
  for (auto lead = kLead.match(text, 0); lead; lead = kLead.match(text, 0)) {
    text.remove_prefix(lead->end);
  }
  return text;
}

// Rust's "<Type as Trait>::method" is "Type::method", and Swift's "f.getter : Type" is "f.getter".
std::string without_trait_or_type(std::string_view text) {
  text = text.substr(0, text.find(" : "));
  const size_t as = text.find(" as ");
  if (!text.starts_with('<') || as == std::string_view::npos) return std::string(text);
  const size_t length = bracketed_length(text);
  if (length < as) return std::string(text);
  return std::string(text.substr(1, as - 1)) + std::string(text.substr(length));
}

// "c10::function_ref<...>::callback_fn<loop<at::take_kernel(Pool&)::{lambda()#1}>>(...)": what only
// calls a lambda counts as the function that the lambda is written in.
std::string_view called_lambda(std::string_view text) {
  // Not where it is an argument itself.
  static const Shape kCaller(
      R"([^{]*?(?:::callback_fn<|at::internal::invoke_parallel<|at::parallel_for<))");
  const auto caller = kCaller.match(text, 0);
  if (!caller) return text;
  const size_t begin = caller->end;
  const size_t lambda = std::min(text.find("::{lambda", begin), text.find("::'lambda", begin));
  if (lambda == std::string_view::npos) return text;
  // The innermost template argument that holds it: back to the bracket that is not closed.
  size_t depth = 0;
  for (size_t i = lambda; i-- > begin;) {
    if (text[i] == '>') ++depth;
    if (text[i] != '<') continue;
    if (depth == 0) return text.substr(i + 1, lambda - i - 1);
    --depth;
  }
  return text.substr(begin, lambda - begin);
}

// Of names of C++, and of Rust's older releases, which are such names too; empty for others. Long
// ones nest deeply: they are left as they are.
std::string without_mangling(std::string_view name) {
  constexpr size_t kLongest = 1024;
  const size_t mangled = name.find("_Z");
  if (mangled > 2 || name.find_first_not_of('_') != mangled + 1 || name.size() > kLongest)
    return "";
  // Without what compilers append to a copy of a function (".cold", ".isra.0"), and the offset.
  return demangled(std::string(name.substr(mangled, name.find_first_of(". +@") - mangled)));
}

std::string one_pass(std::string_view written) {
  // What libraries call one of several copies of a function: glibc's "__GI___libc_write", macOS's
  // "_platform_memmove$VARIANT$Rosetta", one for each kind of processor.
  static const Shape kVariants(R"(^__GI___libc_|\$VARIANT\$.*)");
  // A category, and what follows the method.
  static const Shape kNoMethod(R"(\([^)]*(?:\)|$)|(?<=\]).*)");
  // "core::lanes::take::h0123456789abcdef", as Rust's compiler makes names one of a kind.
  static const Shape kHash(R"(::h[0-9a-f]{16}$)");
  // libc++ and libstdc++ keep their classes in namespaces that nobody writes; LibTorch builds its
  // kernels once for each kind of processor.
  static const Shape kInline(
      R"((?<=std::)__(?:[12]|cxx11|ndk1)::|)"
      R"((?<=^at::native::)(?:AVX2|AVX512|DEFAULT|SVE128|SVE256|VSX|ZVECTOR)::)");
  const std::string whole = without(kVariants, written);
  const std::string_view text = called_lambda(without_leads(without_block(whole)));
  const bool objc = text.starts_with("-[") || text.starts_with("+[");
  const std::string name =
      objc ? without(kNoMethod, text) : CxxName(without(kHash, without_trait_or_type(text))).take();
  return without(kInline, without_chip(name));
}

// One line of printable ASCII, without spaces at its ends.
std::string printable_ascii(std::string_view text) {
  std::string result;
  for (char c : text) {
    const char kept = c > 0x20 && c < 0x7f ? c : ' ';
    if (kept == ' ' && (result.empty() || result.back() == ' ')) continue;
    result += kept;
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

bool stand_in(std::string_view name) {
  static const Shape kStandIn(
      R"(\d|\?\?|___lldb_unnamed_symbol|_mh_(?:execute|dylib|bundle)_header|[^A-Za-z]*$)");
  return kStandIn.match(name, 0).has_value();
}

}  // namespace

std::string without_chip(std::string_view text) {
  // Of AGXG16XFamilyBuffer, AGXMetalG14X_B0 and AGXMetal13_3 the chip; within a name of AGX "Gen3",
  // the digits of "HAL300", "G13X", with a namespace that names nothing else.
  static const Shape kChip(
      R"((?<=(?<![A-Za-z0-9$])AGX|(?<![A-Za-z0-9$])AGXMetal))"
      R"((?:G(?=\d)(?:[\d_]|[A-Z](?![a-z]))*|(?:\d|_(?=\d))+)|)"
      R"((?<=::)(?<generation>Gen\d++(?![a-z])|(?<=HAL)\d+|)"
      R"((?:(?<![\w$])|(?<=[_a-z]))G\d{2,}+(?:[A-Z](?![a-z]))?+(?![a-z]))::|(?&generation))");
  return text.find("AGX") == std::string_view::npos ? std::string(text) : without(kChip, text);
}

std::string normalise_function(std::string_view function) {
  std::string name = printable_ascii(function.substr(0, kMostOfName));
  if (std::string plain = without_mangling(name); !plain.empty()) name = printable_ascii(plain);
  constexpr std::string_view kShared = "<deduplicated_symbol>";
  if (name.starts_with(kShared)) return std::string(kShared);
  name = printable_ascii(one_pass(name));
  if (name.size() > kLongestFunction) name.resize(kLongestFunction);
  return stand_in(name) ? std::string() : name;
}

std::string normalise_image(std::string_view image) {
  // "libfoo.so.1.2" and "libfoo.1.2.dylib" without their versions, "core.cpython-314-darwin.so"
  // without Python's.
  static const Shape kVersion(R"((?<=\.so)\..*|\.cpython-[^.]*|(?:\.\d+)+(?=\.dylib$))");
  std::string name = printable_ascii(image.substr(0, kMostOfName));
  name = printable_ascii(name.substr(name.rfind('/') + 1));  // npos + 1 is 0
  name = printable_ascii(without_chip(without(kVersion, name)));
  if (name.size() > kLongestImage) name.resize(kLongestImage);
  return name;
}

}  // namespace mpsprobe
