#include "harness/signature/shape.h"

#include <algorithm>

#include "harness/signature/ascii.h"

namespace mpsprobe {
namespace {

constexpr size_t kFarthest = 4096;
constexpr size_t kMostSteps = 16384;
constexpr auto npos = std::string_view::npos;

bool in_class(char c, char name) {
  switch (name) {
    case 'd':
      return ascii::digit(c);
    case 'x':
      return ascii::digit(c) || (c >= 'a' && c <= 'f');
    case 'a':
      return ascii::lower(c) || ascii::upper(c);
    case 'l':
      return ascii::lower(c);
    case 'u':
      return ascii::upper(c);
    case 'w':
      return ascii::word(c);
    case 's':
      return c == ' ' || c == '\t';
    case 'S':
      return c != ' ' && c != '\t' && c != '\n';
    case 'A':
      return true;
    default:
      return c == name;
  }
}

// `set` without its brackets.
bool in_set(char c, std::string_view set) {
  const bool negated = set.starts_with('^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i] == '%' && i + 1 < set.size()) {
      found = found || in_class(c, set[++i]);
    } else if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (c >= set[i] && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || c == set[i];
    }
  }
  return found != negated;
}

class Matcher {
 public:
  Matcher(std::string_view shape, std::string_view text) : shape_(shape), text_(text) {}

  std::optional<ShapeMatch> at(size_t begin) {
    match_ = {begin, npos, npos, npos};
    if (!rest(0, begin)) return std::nullopt;
    if (match_.inner_begin == npos) {
      match_.inner_begin = begin;
      match_.inner_end = match_.end;
    }
    return match_;
  }

 private:
  // Characters of the shape that stand for one of the text's, at shape_[p].
  size_t single(size_t p) const {
    if (shape_[p] == '%') return 2;
    if (shape_[p] != '[') return 1;
    for (size_t i = p + 1; i < shape_.size(); ++i) {
      if (shape_[i] == '%') {
        ++i;
      } else if (shape_[i] == ']') {
        return i + 1 - p;
      }
    }
    return shape_.size() - p;
  }

  bool fits(size_t p, size_t length, size_t t) const {
    if (t >= text_.size()) return false;
    const char c = text_[t];
    switch (shape_[p]) {
      case '%':
        return in_class(c, shape_[p + 1]);
      case '[':
        return in_set(c, shape_.substr(p + 1, length - 2));
      case '.':
        return c != '\n';
      default:
        return c == shape_[p];
    }
  }

  bool at_end(size_t t) const { return t >= text_.size() || text_[t] == '\n'; }

  // Whether a name goes on at text[t]: "cpu" does in "cpu_pool" and "cpu.lane".
  bool in_a_name(size_t t) const {
    const char c = ascii::at(text_, t);
    return ascii::word(c) || ((c == '.' || c == '-') && ascii::word(ascii::at(text_, t + 1)));
  }

  // Behind the bracket that closes the one at text[t]; 0 where there is none.
  size_t balanced(char open, char close, size_t t) {
    size_t depth = 0;
    for (size_t i = t; i < text_.size() && text_[i] != '\n'; ++i) {
      ++steps_;
      if (text_[i] == open) ++depth;
      if (text_[i] == close && --depth == 0) return i + 1;
      if (depth == 0) return 0;
    }
    return 0;
  }

  bool starts_with_one(size_t begin, size_t close, size_t t) const {
    while (begin <= close) {
      const size_t end = std::min(shape_.find('|', begin), close);
      if (text_.substr(t).starts_with(shape_.substr(begin, end - begin))) return true;
      begin = end + 1;
    }
    return false;
  }

  bool words(size_t p, size_t t) {
    const size_t close = shape_.find('}', p);
    if (close == npos) return false;
    const bool optional = ascii::at(shape_, close + 1) == '?';
    const size_t next = close + (optional ? 2 : 1);
    if (ascii::at(shape_, p + 1) == '!') return !starts_with_one(p + 2, close, t) && rest(next, t);
    for (size_t begin = p + 1; begin <= close;) {
      const size_t end = std::min(shape_.find('|', begin), close);
      const std::string_view word = shape_.substr(begin, end - begin);
      if (word == "$") {
        if (at_end(t) && rest(next, t)) return true;
      } else if (text_.substr(t).starts_with(word) && rest(next, t + word.size())) {
        return true;
      }
      begin = end + 1;
    }
    return optional && rest(next, t);
  }

  bool mark(size_t& place, size_t p, size_t t) {
    const size_t before = place;
    place = t;
    if (rest(p + 1, t)) return true;
    place = before;
    return false;
  }

  // Whether the shape from p on matches the text from t on.
  bool rest(size_t p, size_t t) {  // NOLINT(misc-no-recursion): as deep as the shape is long
    for (;;) {
      if (++steps_ > kMostSteps) return false;
      if (p >= shape_.size()) {
        match_.end = t;
        return true;
      }
      if (shape_[p] == '{') return words(p, t);
      if (shape_[p] == '(') return mark(match_.inner_begin, p, t);
      if (shape_[p] == ')') return mark(match_.inner_end, p, t);
      if (shape_[p] == '$') {
        if (!at_end(t)) return false;
        ++p;
        continue;
      }
      if (shape_.substr(p).starts_with("%e")) {
        if (in_a_name(t)) return false;
        p += 2;
        continue;
      }
      if (shape_.substr(p).starts_with("%f")) {
        if (t > 0 && ascii::word(text_[t - 1])) return false;
        p += 2;
        continue;
      }
      if (shape_.substr(p).starts_with("%b")) {
        const size_t end = balanced(shape_[p + 2], shape_[p + 3], t);
        if (end == 0) return false;
        p += 4;
        t = end;
        continue;
      }
      const size_t length = single(p);
      const char how = ascii::at(shape_, p + length);
      if (how == '*' || how == '+') return many(p, length, t, how == '+' ? 1 : 0);
      if (how == '-') return few(p, length, t);
      if (how == '?') {
        return (fits(p, length, t) && rest(p + length + 1, t + 1)) || rest(p + length + 1, t);
      }
      if (!fits(p, length, t)) return false;
      p += length;
      ++t;
    }
  }

  bool many(size_t p, size_t length, size_t t, size_t fewest) {  // NOLINT(misc-no-recursion)
    size_t count = 0;
    while (fits(p, length, t + count) && ++steps_ <= kMostSteps) ++count;
    for (;; --count) {
      if (count < fewest) return false;
      if (rest(p + length + 1, t + count)) return true;
      if (count == 0 || steps_ > kMostSteps) return false;
    }
  }

  bool few(size_t p, size_t length, size_t t) {  // NOLINT(misc-no-recursion)
    for (;; ++t) {
      if (rest(p + length + 1, t)) return true;
      if (steps_ > kMostSteps || !fits(p, length, t)) return false;
    }
  }

  std::string_view shape_;
  std::string_view text_;
  ShapeMatch match_;
  size_t steps_ = 0;
};

}  // namespace

std::optional<ShapeMatch> match_shape(std::string_view shape, std::string_view text, size_t at) {
  return Matcher(shape, text.substr(0, std::min(text.size(), at + kFarthest))).at(at);
}

}  // namespace mpsprobe
