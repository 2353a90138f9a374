#include "harness/outcome/python_death.h"

#include <algorithm>

#include "harness/signature/ascii.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kLongestName = 80;
constexpr size_t kMostFrames = 100;
constexpr std::string_view kCurrent = "Current thread 0x";

// What faulthandler says of the thread that died: the lines below "Current thread".
std::string current_thread(std::string_view printed) {
  printed.remove_prefix(printed.size() - std::min(printed.size(), kMostBytes));
  const std::string text = plain_text(printed, kMostBytes).text;
  const size_t head = text.rfind(kCurrent);
  if (head == std::string::npos) return "";
  const size_t begin = std::min(text.find('\n', head), text.size());
  return text.substr(begin, std::min(text.find("\n\n", begin), text.size()) - begin);
}

// "_take_lane", "takeLane": two words or more.
bool says_enough(std::string_view name) {
  constexpr size_t kShortest = 8;
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name.size() >= kShortest && (name.find('_') != std::string_view::npos ||
                                      std::any_of(name.begin() + 1, name.end(), ascii::upper));
}

}  // namespace

std::vector<StackFrame> python_frames(std::string_view printed) {
  static const Shape kFrame(R"(File '[^'\n]+', line [\d?]+ in ([\w<>.]+))");
  std::vector<StackFrame> frames;
  const std::string lines = current_thread(printed);
  constexpr std::string_view kFile = "File '";
  for (size_t at = lines.find(kFile); at != std::string::npos && frames.size() < kMostFrames;
       at = lines.find(kFile, at + 1)) {
    const auto name = kFrame.match(lines, at);
    if (!name) continue;
    StackFrame& frame = frames.emplace_back();
    frame.function = lines.substr(name->inner_begin, name->inner_end - name->inner_begin);
    const size_t path = at + kFile.size();
    const size_t line = lines.find("', line ", path);
    frame.source = lines.substr(path, line - path) + ":" +
                   lines.substr(line + 8, lines.find(' ', line + 8) - (line + 8));
  }
  return frames;
}

std::string python_place(std::string_view printed) {
  const std::vector<StackFrame> frames = python_frames(printed);
  if (frames.empty()) return "";
  std::string function = frames.front().function.substr(0, kLongestName);
  if (says_enough(function)) return function;
  std::string file = frames.front().source;
  file.resize(file.rfind(':'));
  file.erase(0, file.find_last_of("/\\") + 1);  // npos + 1 is 0
  return function + " (" + file.substr(0, kLongestName) + ")";
}

bool python_collected_garbage(std::string_view printed) {
  return current_thread(printed).find("Garbage-collecting") != std::string::npos;
}

}  // namespace mpsprobe
