#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "harness/journal/record_json.h"
#include "harness/outcome/judge.h"
#include "harness/pasted_text/pasted_process.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/frames.h"
#include "harness/signature/function_name.h"
#include "harness/signature/title.h"

namespace {

using namespace mpsprobe;

void check(bool holds) {
  if (!holds) std::abort();
}

bool printable(std::string_view text) {
  for (char c : text) {
    if ((c >= 0 && c < 0x20) || c == 0x7f) return false;
  }
  return valid_utf8(std::string(text)) == text;
}

// A line is a frame, "image function": what a crashing child or a crash report may hold.
std::vector<StackFrame> frames_of(std::string_view text) {
  std::vector<StackFrame> frames;
  while (!text.empty() && frames.size() < 256) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const size_t space = line.find(' ');
    StackFrame frame;
    frame.image = line.substr(0, space);
    if (space != std::string_view::npos) frame.function = line.substr(space + 1);
    frames.push_back(std::move(frame));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const std::vector<Finding> findings = find_failures(text);
  check(findings.size() <= kMostFindings);
  for (const Finding& finding : findings) {
    check(!finding.title.empty() && finding.title.size() <= 160 && printable(finding.title));
    check(finding.excerpt.size() <= 600 && finding.offset <= size);
  }
  class_of_message(text);
  check(printable(last_words(text).title));
  const std::string title = title_behind_leads(text).title;
  check(title.size() <= 160 && printable(title));
  const std::string function = normalise_function(text);
  check(function.size() <= 120 && printable(function));
  check(printable(normalise_image(text)));

  ProcessRecord process;
  process.termination = Signaled{size % 2 == 0 ? 11 : 6, false};
  process.err.head = text;
  process.err.bytes = size;
  ThreadStack stack;
  stack.faulting = true;
  stack.frames = frames_of(text);
  const StackTitle frame = title_of_stack(stack.frames);
  check(printable(frame.function));
  recursive_function(stack.frames);
  process.stacks.threads.push_back(std::move(stack));
  const size_t third = size / 3;
  process.crash_report.emplace().application_info = {std::string(text.substr(0, third)),
                                                     std::string(text.substr(third))};
  const Judgement judgement = judge(process, "nograph");
  check(!judgement.signature.empty() && printable(judgement.signature));
  check(printable(judge(read_pasted_process(text)).signature));
  return 0;
}
