#include "reproducers/emit/template_text.h"

#include "harness/input/input_error.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kBlanks = " \t";

/// A tag, and what is cut out with it: its whole line where it stands alone.
struct Tag {
  size_t begin = 0, end = 0;
  std::string_view name;  ///< with the sign of a section
  size_t indent = kNone;  ///< of the line that it has alone
};

class Renderer {
 public:
  Renderer(std::string_view text, const TemplateValues& values, const std::string& place)
      : text_(text), values_(values), place_(place) {}

  std::string between(size_t at, size_t end) const {
    std::string result;
    while (at < end) {
      const Tag tag = next(at);
      if (tag.begin >= end) break;
      result += text_.substr(at, tag.begin - at);
      at = tag.end;
      if (tag.name.front() != '#' && tag.name.front() != '^') {
        result += indented(value_of(tag.name), tag);
        continue;
      }
      const std::string_view name = tag.name.substr(1);
      Tag closing = next(at);
      while (closing.name.substr(0, 1) != "/" || closing.name.substr(1) != name) {
        if (closing.begin == kNone) broken("has no end of the section " + std::string(name));
        closing = next(closing.end);
      }
      const bool shown = value_of(name).empty() == (tag.name.front() == '^');
      if (shown) result += between(at, closing.begin);
      at = closing.end;
    }
    return at < end ? result.append(text_.substr(at, end - at)) : result;
  }

 private:
  Tag next(size_t at) const {
    Tag tag{.begin = text_.find("{{", at), .end = kNone, .name = {}};
    if (tag.begin == kNone) return tag;
    const size_t close = text_.find("}}", tag.begin);
    if (close < tag.begin + 3 || close == kNone) broken("has a tag that is none");
    tag.name = text_.substr(tag.begin + 2, close - tag.begin - 2);
    tag.end = close + 2;
    const size_t line = tag.begin == 0 ? 0 : text_.rfind('\n', tag.begin - 1) + 1;
    const bool alone = text_.substr(line, tag.begin - line).find_first_not_of(kBlanks) == kNone &&
                       text_.substr(tag.end, 1) == "\n";
    if (!alone) return tag;
    tag.indent = tag.begin - line;
    tag.begin = line;
    ++tag.end;
    return tag;
  }

  static std::string indented(const std::string& value, const Tag& tag) {
    if (tag.indent == kNone || value.empty()) return value;
    std::string result;
    for (const std::string_view line : split(value, '\n')) {
      if (!line.empty()) result.append(tag.indent, ' ').append(line);
      result += '\n';
    }
    return result;
  }

  const std::string& value_of(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) broken("asks for " + std::string(name));
    return found->second;
  }

  [[noreturn]] void broken(const std::string& what) const {
    throw InputError(place_, what, "It comes with mpsprobe: install it whole");
  }

  std::string_view text_;
  const TemplateValues& values_;
  const std::string& place_;
};

}  // namespace

std::string rendered(std::string_view text, const TemplateValues& values,
                     const std::string& place) {
  return Renderer(text, values, place).between(0, text.size());
}

}  // namespace mpsprobe
