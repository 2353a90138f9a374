#include "harness/signature/known_lines.h"

#include <algorithm>
#include <array>

#include "harness/signature/find_failures.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/rule_search.h"

namespace mpsprobe {
namespace {

// A message goes on over more lines than these only where it is no message.
constexpr size_t kMostMessageLines = 8;

void add_lines(const PlainText& plain, size_t begin, size_t end, std::vector<size_t>& places) {
  for (size_t line = 0; begin < end && line < kMostMessageLines; ++line) {
    places.push_back(plain.origin[begin]);
    begin = plain.line_end(begin) + 1;
  }
}

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

std::vector<size_t> places_that_rules_read(std::string_view text, const Rules& rules) {
  const PlainText plain = plain_text(text, kMostTextBytes, rules.noise);
  std::vector<size_t> places;
  for (const RuleMatch& match : find_rules(plain, rules)) {
    if (match.known != nullptr) {
      add_lines(plain, match.begin, match.end, places);
      continue;
    }
    places.push_back(plain.origin[match.begin]);
    const std::string_view message = message_of(plain, match);
    const size_t begin = static_cast<size_t>(message.data() - plain.text.data());
    add_lines(plain, begin, begin + message.size(), places);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
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
