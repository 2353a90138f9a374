#include "harness/signature/known_lines.h"

#include <array>

#include "harness/signature/find_failures.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/rule_search.h"

namespace mpsprobe {
namespace {

// Lines of stacks. The first group is an image, the second a function, where there are such.
struct FrameForm {
  Shape shape;
  bool image;
};

const std::array<FrameForm, 5>& frame_forms() {
  static const std::array<FrameForm, 5> forms{
      {// 3   libtorch_cpu.dylib   0x0000000118a3b5c0 at::linear(...) + 412
       {Shape(" *\\d+ +([^/\\s]+) +0x[0-9a-f]+ "), true},
       // frame #3: 0x000000019c5b82e4 libsystem_kernel.dylib`__pthread_kill + 8
       {Shape(" *\\*? *frame #\\d+: 0x[0-9a-f]+ ([^/\\s`]+)`"), true},
       // #3  0x00007ffd3a2b1c40 in at::linear(...) () from /usr/lib/libtorch_cpu.so
       {Shape(" *#\\d+ +(?:0x[0-9a-f]+ in )([^\\n]+?)(?= \\(|$)"), false},
       // frame #3: at::linear(...) + 0x1c (0x7ffd3a2b1c40 in /usr/lib/libtorch_cpu.so)
       {Shape(" *frame #\\d+: ([^\\n]+?)(?= \\+ 0x[0-9a-f]+ \\(0x)"), false},
       // File "/x/train.py", line 12, in forward
       {Shape(" *File \"[^\"\\n]*\", line \\d+, in ([A-Za-z_]\\w*|<[a-z]+>)$"), false}}};
  return forms;
}

}  // namespace

std::vector<TextPart> words_of_rules(std::string_view text, const Rules& rules) {
  std::vector<TextPart> parts;
  const auto add_title = [&](const std::string& title, bool whole) {
    const bool there = whole ? text == title : text.starts_with(title);
    if (there && !title.empty()) parts.push_back({0, title.size()});
  };
  for (const KnownText& known : rules.texts) add_title(known.title, true);
  for (const MisuseFrame& misuse : rules.misuses) add_title(misuse.title, true);
  for (const Form& form : rules.forms) add_title(form.title, form.known);
  const PlainText plain = plain_text(text, kMostTextBytes, rules.noise);
  const auto add = [&](const std::string& literal, size_t from) {
    const size_t at = plain.text.find(literal, from);
    if (at == std::string::npos) return from;
    const size_t end = at + literal.size();
    parts.push_back({plain.origin[at], plain.origin[end - 1] + 1});
    return end;
  };
  for (const RuleMatch& match : find_rules(plain, rules)) {
    if (match.form != nullptr) add(match.form->anchor, match.begin);
    if (match.known == nullptr) continue;
    size_t from = match.begin;
    for (const std::string& fragment : match.known->fragments) from = add(fragment, from);
  }
  return parts;
}

bool is_frame_line(std::string_view line, FrameLine& frame) {
  for (const FrameForm& form : frame_forms()) {
    const auto match = form.shape.match(line, 0);
    if (!match) continue;
    if (form.image) {
      frame = {match->inner_begin, match->inner_end, match->end, line.size()};
      const size_t offset = line.rfind(" + ");
      if (offset != std::string_view::npos && offset > match->end) frame.symbol_end = offset;
    } else {
      frame = {0, 0, match->inner_begin, match->inner_end};
    }
    return true;
  }
  return false;
}

}  // namespace mpsprobe
