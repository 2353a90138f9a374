#include <algorithm>
#include <optional>
#include <utility>

#include "harness/crash_report/ips.h"
#include "harness/crash_report/report_limits.h"
#include "harness/crash_report/report_value.h"
#include "harness/signature/shape.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

using std::string_view;

/// A frame as written; its image is known only once the list of images at the end was read.
struct TextFrame {
  StackFrame frame;
  uint64_t address = 0;
};

struct TextImage {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string name;
  std::string id;
};

struct TextThread {
  uint64_t number = 0;
  ThreadStack stack;
  std::vector<TextFrame> frames;
};

/// Reads a report line by line; what a line means depends on the section that it is in.
class TextReader {
 public:
  ParsedReport read(string_view content) {
    each_line(content, [this](string_view line) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (section_ != Section::done) take(line);
    });
    if (!is_crash_) return Unreadable{"it is neither an .ips nor a crash report in text form"};
    if (!has_images_) return Unreadable{"it is cut off before its list of images"};
    return finish();
  }

 private:
  enum class Section : uint8_t {
    keys,
    termination,
    application_info,
    thread,
    last_exception,
    other_stack,
    images,
    done
  };

  void take(string_view line) {
    if (trimmed(line).empty()) {
      if (section_ == Section::images && !images_.empty()) section_ = Section::done;
      if (section_ != Section::images) section_ = Section::keys;
      return;
    }
    switch (section_) {
      case Section::application_info:
        add_text(report_.application_info, line);
        return;
      case Section::termination:
        if (take_key(line)) return;
        add_text(report_.termination_reasons, line);
        return;
      case Section::images:
        take_image(line);
        return;
      case Section::thread:
      case Section::last_exception:
      case Section::other_stack:
        if (take_frame(line)) return;
        break;
      case Section::keys:
      case Section::done:
        break;
    }
    stack_guard_ = stack_guard_ || marks_stack_guard(line);
    if (!take_heading(line)) take_key(line);
  }

  // "3   libobjc.A.dylib   0x00007fff5 objc_msgSend + 32 (objc.mm:7)"; an image's name may hold
  // blanks: it reaches to the address. "0x10dc56000 + 8801" is the image's load address, no symbol.
  bool take_frame(string_view line) {
    static const Shape kFrame(
        R"(\s*\d+\s+(?<image>\S.*?)[ \t]+(?<address>0x[0-9a-f]+)(?:[ \t]+(?:(?<base>0x[0-9a-f]+) \+ )"
        R"(\d+|\?\?\?|(?<function>\S.*?)))?(?: \+ \d+)?(?: \((?<source>[^()]+:\d+)\))?)"
        R"((?<inlined> \[inlined\])?\s*$)");
    const auto parts = kFrame.match(line, 0);
    if (!parts) return false;
    TextFrame text;
    text.address = report_number((*parts)["address"]).value_or(0);
    const uint64_t base = report_number((*parts)["base"]).value_or(0);
    text.frame.image = report_text((*parts)["image"], report_limits::kMostNameBytes);
    text.frame.offset = base <= text.address ? text.address - base : text.address;
    text.frame.function = report_text((*parts)["function"], report_limits::kMostFunctionBytes);
    text.frame.source = report_file_name((*parts)["source"]);
    text.frame.inlined = parts->has("inlined");
    std::vector<TextFrame>* frames = section_ == Section::last_exception ? &last_exception_
                                     : section_ == Section::thread       ? current_
                                                                         : nullptr;
    if (frames != nullptr && frames->size() < report_limits::kMostFrames) {
      frames->push_back(std::move(text));
    }
    return true;
  }

  // "0x10dc56000 - 0x10e111000 +com.apple.Finder (10.8.3) <UUID> /path/Finder"
  void take_image(string_view line) {
    static const Shape kImage(
        R"(\s*(?<begin>0x[0-9a-f]+)\s+-\s+(?<end>0x[0-9a-f]+)\s+(?:[^<]*<(?<id>[^>]*)> |(?=\S))(?<path>[^\n]*))");
    const auto parts = kImage.match(line, 0);
    if (!parts || images_.size() == report_limits::kMostImages) return;
    const string_view path = trimmed((*parts)["path"]);
    images_.push_back({report_number((*parts)["begin"]).value_or(0),
                       report_number((*parts)["end"]).value_or(0),
                       report_file_name(parts->has("id") ? path : path.substr(0, path.find(' '))),
                       report_image_id((*parts)["id"])});
  }

  /// "Thread 3 Crashed:: name", "Thread 3 name:  Dispatch queue: q", "Binary Images:" and the like.
  bool take_heading(string_view line) {
    static constexpr std::pair<string_view, Section> kHeadings[] = {
        {"Binary Images:", Section::images},
        {"Last Exception Backtrace:", Section::last_exception},
        {"Application Specific Backtrace", Section::other_stack},
        {"Application Specific Information:", Section::application_info}};
    for (const auto& [words, section] : kHeadings) {
      if (!line.starts_with(words)) continue;
      section_ = section;
      has_images_ = has_images_ || section == Section::images;
      return true;
    }
    // Not "Thread 3 crashed with ARM Thread State".
    static const Shape kThread(
        R"(Thread (?<number>\d+)(?:(?<named> name)|(?<crashed> Crashed))?::?\s*)"
        R"((?:Dispatch queue:\s*)?(?<name>[^\n]*?)\s*$)");
    const auto parts = kThread.match(line, 0);
    const auto number = parts ? report_number((*parts)["number"]) : std::nullopt;
    if (!number) return false;
    TextThread& current = thread(*number);
    if (parts->has("crashed")) crashed_thread_ = *number;
    if (parts->has("named") || current.stack.name.empty()) {
      current.stack.name = report_text((*parts)["name"], report_limits::kMostNameBytes);
    }
    current_ = &current.frames;
    section_ = parts->has("named") ? Section::keys : Section::thread;
    return true;
  }

  /// "OS Version:   macOS 12.1 (21C52)"; false where the line has no key that is known.
  bool take_key(string_view line) {
    const size_t colon = line.find(':');
    if (colon == string_view::npos) return false;
    const string_view key = trimmed(line.substr(0, colon));
    const string_view value = trimmed(line.substr(colon + 1));
    // What follows a termination's reason is told in lines that hold colons as well.
    const bool of_a_thread = key == "Triggered by Thread" || key == "Crashed Thread";
    const bool ended = section_ == Section::termination;
    if (ended && !key.starts_with("Terminati") && !of_a_thread) return false;
    section_ = Section::keys;
    if (key == "Process") return take_process(value);
    if (key == "Incident Identifier") return set(report_.incident, value);
    if (key == "Hardware Model" || key == "Model") {
      return set(report_.model, value.substr(0, value.find(", ")));
    }
    if (key == "OS Version") return set(report_.os_version, value);
    if (key == "Date/Time") return (report_.captured = report_time(value), true);
    if (key == "Launch Time") return (report_.launched = report_time(value), true);
    if (key == "Exception Type") return take_exception(value);
    if (key == "Exception Subtype") return set(report_.subtype, value);
    if (key == "Exception Message") return set(message_, value);
    if (key == "Exception Codes") {
      // The older form tells the subtype here; the newer one has bare numbers.
      return value.find("KERN_") == string_view::npos || set(report_.subtype, value);
    }
    if (key == "Termination Reason") return take_termination(value);
    if (!of_a_thread) return ended;
    const auto number = report_number(value.substr(0, value.find_first_not_of("0123456789")));
    if (number) crashed_thread_ = *number;
    return true;
  }

  static bool set(std::string& field, string_view value) {
    if (field.empty()) field = report_text(value);
    return true;
  }

  bool take_process(string_view value) {
    static const Shape kProcess(R"((?<name>[^\n]*?)\s*(?:\[(?<pid>\d+)\])?$)");
    const ShapeMatch parts = kProcess.match(value, 0).value_or(ShapeMatch());
    const auto pid = report_number(parts["pid"]);
    if (pid && *pid <= INT32_MAX) report_.pid = static_cast<int64_t>(*pid);
    return set(report_.process, parts["name"]);
  }

  bool take_exception(string_view value) {
    static const Shape kException(R"((?<type>[^(\n]*?)\s*(?:\((?<signal>[^\n]*)\))?$)");
    const ShapeMatch parts = kException.match(value, 0).value_or(ShapeMatch());
    is_crash_ = true;
    return set(report_.exception, parts["type"]) && set(report_.signal, parts["signal"]);
  }

  /// "Namespace SIGNAL, Code 11, Segmentation fault: 11", "Namespace SIGNAL, Code 0xb",
  /// "DYLD, [0x1] Library missing", "SIGNAL 5 Trace/BPT trap: 5".
  bool take_termination(string_view value) {
    static const Shape kTermination(
        R"((?:Namespace )?(?<space>[^, \n]*)(?:, (?:Code [^ ,\n]*|\[[^\]\n]*\])| \d*)?[ ,\]]*)"
        R"((?<indicator>[^\n]*))");
    const ShapeMatch parts = kTermination.match(value, 0).value_or(ShapeMatch());
    section_ = Section::termination;
    return set(report_.termination_namespace, parts["space"]) &&
           set(report_.termination_indicator, parts["indicator"]);
  }

  static void add_text(std::vector<std::string>& texts, string_view line) {
    if (texts.size() < report_limits::kMostTexts) texts.push_back(report_text(trimmed(line)));
  }

  /// The thread of that number; beyond the limit one that is not kept.
  TextThread& thread(uint64_t number) {
    const auto found = std::find_if(threads_.rbegin(), threads_.rend(),
                                    [&](const TextThread& t) { return t.number == number; });
    if (found != threads_.rend()) return *found;
    if (threads_.size() == report_limits::kMostThreads) return surplus_;
    // Pointers to frames of other threads end here: only the newest thread is being read.
    threads_.emplace_back().number = number;
    return threads_.back();
  }

  /// Each takes a copy of its image's name with it, so there is a bound for all of them together.
  std::vector<StackFrame> placed(const std::vector<TextFrame>& frames, size_t& left) const {
    std::vector<StackFrame> result;
    for (const TextFrame& text : frames) {
      if (left == 0) break;
      --left;
      StackFrame frame = text.frame;
      const auto after =
          std::upper_bound(images_.begin(), images_.end(), text.address,
                           [](uint64_t a, const TextImage& image) { return a < image.begin; });
      if (after != images_.begin() && text.address <= std::prev(after)->end) {
        const TextImage& image = *std::prev(after);
        frame.image = image.name;
        frame.image_id = image.id;
        frame.offset = text.address - image.begin;
      } else if (frame.image == "???") {
        frame.image.clear();
      }
      result.push_back(std::move(frame));
    }
    return result;
  }

  CrashReport finish() {
    std::stable_sort(images_.begin(), images_.end(),
                     [](const TextImage& a, const TextImage& b) { return a.begin < b.begin; });
    for (TextThread& thread : threads_) thread.stack.faulting = crashed_thread_ == thread.number;
    std::stable_partition(threads_.begin(), threads_.end(),
                          [](const TextThread& thread) { return thread.stack.faulting; });
    size_t left = report_limits::kMostFramesInAll;
    report_.last_exception = placed(last_exception_, left);
    for (TextThread& thread : threads_) {
      thread.stack.frames = placed(thread.frames, left);
      report_.threads.push_back(std::move(thread.stack));
    }
    for (const std::string& more : {std::string(stack_guard_ ? "stack guard" : ""), message_}) {
      if (!more.empty()) report_.subtype = report_text(report_.subtype + " (" + more + ")");
    }
    report_.application_info = join_split_texts(report_.application_info);
    return std::move(report_);
  }

  CrashReport report_;
  Section section_ = Section::keys;
  bool is_crash_ = false;
  bool has_images_ = false;
  std::string message_;       ///< of the exception
  bool stack_guard_ = false;  ///< the memory that was touched is one
  std::optional<uint64_t> crashed_thread_;
  std::vector<TextThread> threads_;
  TextThread surplus_;
  std::vector<TextFrame>* current_ = nullptr;  ///< of the thread that is being read
  std::vector<TextFrame> last_exception_;
  std::vector<TextImage> images_;
};

}  // namespace

ParsedReport parse_crash_text(std::string_view content) {
  if (content.size() > report_limits::kMostBytes) return Unreadable{"it is larger than 64 MiB"};
  return TextReader().read(content);
}

}  // namespace mpsprobe
