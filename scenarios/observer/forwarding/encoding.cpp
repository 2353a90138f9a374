#include "scenarios/observer/forwarding/encoding.h"

#include <algorithm>

#include "harness/wire/ascii.h"
#include "scenarios/observer/forwarding/frame.h"

namespace mpsprobe::observer {
namespace {

/// More on a stack is no method of these frameworks'.
constexpr size_t kLargestFrame = 2048;
constexpr int kDeepest = 16;

struct Type {
  enum class Kind : unsigned char { nothing, integer, floating, aggregate };
  Kind kind = Kind::nothing;
  size_t size = 0;
  size_t alignment = 1;
  char letter = '\0';
};

/// Reads types one after the other, as clang's and gcc's ASTContext write them.
class Reader {
 public:
  explicit Reader(std::string_view types) : rest_(types) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

  size_t number() {
    size_t value = 0;
    while (!rest_.empty() && ascii::digit(rest_[0])) {
      value = std::min<size_t>(value * 10 + static_cast<size_t>(take() - '0'), 1U << 24U);
    }
    return value;
  }

  Type type(int depth = 0) {
    while (!rest_.empty() &&
           std::string_view("rnNoORVA").find(rest_[0]) != std::string_view::npos) {
      take();
    }
    // A vector has no letter: what follows is its place in the frame.
    if (!rest_.empty() && ascii::digit(rest_[0])) return {Type::Kind::aggregate, 16, 16, '\0'};
    const char letter = take();
    if (depth > kDeepest) failed_ = true;
    if (failed_) return {};
    switch (letter) {
      case 'v':
        return {Type::Kind::nothing, 0, 1, letter};
      case 'c':
      case 'C':
      case 'B':
        return {Type::Kind::integer, 1, 1, letter};
      case 's':
      case 'S':
        return {Type::Kind::integer, 2, 2, letter};
      case 'i':
      case 'I':
        return {Type::Kind::integer, 4, 4, letter};
      case 'l':
      case 'L':
      case 'q':
      case 'Q':
      case '*':
      case '#':
      case ':':
        return {Type::Kind::integer, 8, 8, letter};
      case 'f':
        return {Type::Kind::floating, 4, 4, letter};
      case 'd':
        return {Type::Kind::floating, 8, 8, letter};
      case 'D':
      case 't':
      case 'T':
        return {Type::Kind::aggregate, 16, 16, letter};
      case '^':
        if (!rest_.empty() && rest_[0] == '?')
          take();
        else
          type(depth + 1);
        return {Type::Kind::integer, 8, 8, letter};
      case '@':
        if (!rest_.empty() && rest_[0] == '?') take();
        if (!rest_.empty() && rest_[0] == '<') skip('<', '>');
        if (!rest_.empty() && rest_[0] == '"') quoted();
        return {Type::Kind::integer, 8, 8, letter};
      case '[':
        return array(depth);
      case '{':
        return members('}', depth);
      case '(':
        return members(')', depth);
      default:
        failed_ = true;
        return {};
    }
  }

 private:
  char take() {
    if (rest_.empty()) {
      failed_ = true;
      return '\0';
    }
    const char first = rest_[0];
    rest_.remove_prefix(1);
    return first;
  }
  void quoted() {
    take();
    while (!failed_ && take() != '"') {
    }
  }
  void skip(char open, char close) {
    int depth = 0;
    do {
      const char next = take();
      depth += next == open ? 1 : next == close ? -1 : 0;
    } while (depth > 0 && !failed_);
  }
  Type array(int depth) {
    const size_t count = number();
    Type element = type(depth + 1);
    if (take() != ']') failed_ = true;
    element.size *= count;
    element.kind = Type::Kind::aggregate;
    return element;
  }
  // A bit-field stands in what its neighbours leave: counted whole, which is never too little.
  Type members(char close, int depth) {
    Type whole{Type::Kind::aggregate, 0, 1, close};
    while (!failed_ && !rest_.empty() && rest_[0] != '=' && rest_[0] != close) {
      if (rest_[0] == '<')
        skip('<', '>');
      else
        take();
    }
    if (!rest_.empty() && rest_[0] == '=') take();
    while (!failed_ && !rest_.empty() && rest_[0] != close) {
      if (rest_[0] == '"') quoted();
      Type member;
      if (!rest_.empty() && rest_[0] == 'b') {
        take();
        member = {Type::Kind::integer, (number() + 7) / 8, 1, 'b'};
      } else {
        member = type(depth + 1);
      }
      const size_t alignment = std::max<size_t>(member.alignment, 1);
      whole.alignment = std::max(whole.alignment, alignment);
      if (close == '}') {
        whole.size = (whole.size + alignment - 1) / alignment * alignment + member.size;
      } else {
        whole.size = std::max(whole.size, member.size);
      }
    }
    if (take() != close) failed_ = true;
    whole.size = (whole.size + whole.alignment - 1) / whole.alignment * whole.alignment;
    return whole;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace

CallShape shape_of(std::string_view types) noexcept {
  Reader reader(types);
  CallShape shape;
  const Type result = reader.type();
  shape.object_result = result.letter == '@';
#if defined(__x86_64__)
  shape.memory_result = result.kind == Type::Kind::aggregate && result.size > 16;
#endif
  const size_t frame = reader.number();
  int integers = shape.memory_result ? 1 : 0;
  int floats = 0;
  bool in_registers = true;
  size_t bytes = 0;
  size_t seen = 0;
  while (!reader.at_end() && !reader.failed()) {
    const Type argument = reader.type();
    reader.number();
    if (argument.kind == Type::Kind::integer) {
      ++integers;
    } else if (argument.kind == Type::Kind::floating) {
      ++floats;
    } else {
      in_registers = false;
    }
    seen += std::max<size_t>(argument.size, 4);
    bytes += (argument.size + 7) / 8 * 8 + (argument.alignment > 8 ? 8 : 0);
  }
  bytes = std::max(bytes, frame);
  // A vector is written as nothing at all: the frame alone tells that there is one.
  in_registers = in_registers && seen >= frame;
  shape.known = !reader.failed() && bytes <= kLargestFrame;
  in_registers = in_registers && integers <= kIntegerArguments && floats <= kVectorArguments;
  if (!in_registers) shape.stack_bytes = (bytes + 15) / 16 * 16;
  return shape;
}

}  // namespace mpsprobe::observer
