#include "harness/crash_report/crash_text.h"

#include <algorithm>
#include <optional>

#include "harness/crash_report/crash_text_line.h"
#include "harness/crash_report/report_limits.h"
#include "harness/crash_report/report_value.h"

namespace mpsprobe {
namespace {

using std::string_view;

struct TextThread {
  uint64_t number = 0;
  ThreadStack stack;
  std::vector<TextFrame> frames;
};

/// Reads a report line by line; what a line means depends on the section that it is in.
class TextReader {
 public:
  ParsedReport read(string_view content) {
    while (!content.empty()) {
      const size_t end = content.find('\n');
      string_view line = content.substr(0, end);
      content.remove_prefix(end == string_view::npos ? content.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (section_ == Section::done) break;
      take(line);
    }
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
        if (const auto image = read_image_line(line);
            image.has_value() && images_.size() < report_limits::kMostImages) {
          images_.push_back(*image);
        }
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

  bool take_frame(string_view line) {
    const std::optional<TextFrame> frame = read_frame_line(line);
    if (!frame.has_value()) return false;
    std::vector<TextFrame>* frames = section_ == Section::last_exception ? &last_exception_
                                     : section_ == Section::thread       ? current_
                                                                         : nullptr;
    if (frames != nullptr && frames->size() < report_limits::kMostFrames) frames->push_back(*frame);
    return true;
  }

  /// "Thread 3 Crashed:: name", "Thread 3 name:  Dispatch queue: q", "Binary Images:" and the like.
  bool take_heading(string_view line) {
    if (line.starts_with("Binary Images:")) {
      section_ = Section::images;
      has_images_ = true;
      return true;
    }
    if (line.starts_with("Last Exception Backtrace:")) {
      section_ = Section::last_exception;
      return true;
    }
    if (line.starts_with("Application Specific Backtrace")) {
      section_ = Section::other_stack;
      return true;
    }
    if (line.starts_with("Application Specific Information:")) {
      section_ = Section::application_info;
      return true;
    }
    string_view rest = line;
    if (!take_prefix(rest, "Thread ")) return false;
    const std::optional<uint64_t> number = take_number(rest);
    if (!number.has_value()) return false;
    if (take_prefix(rest, " name:")) {
      thread(*number).stack.name = thread_name(rest);
      section_ = Section::keys;
      return true;
    }
    const bool crashed = take_prefix(rest, " Crashed");
    if (!take_prefix(rest, ":")) return false;  // "Thread 3 crashed with ARM Thread State"
    TextThread& current = thread(*number);
    if (crashed) crashed_thread_ = *number;
    take_prefix(rest, ":");
    if (current.stack.name.empty()) current.stack.name = thread_name(rest);
    current_ = &current.frames;
    section_ = Section::thread;
    return true;
  }

  static std::string thread_name(string_view text) {
    text = trimmed(text);
    take_prefix(text, "Dispatch queue:");
    return report_text(trimmed(text), report_limits::kMostNameBytes);
  }

  /// "OS Version:   macOS 12.1 (21C52)"; false where the line has no key that is known.
  bool take_key(string_view line) {
    const size_t colon = line.find(':');
    if (colon == string_view::npos) return false;
    const string_view key = trimmed(line.substr(0, colon));
    const string_view value = trimmed(line.substr(colon + 1));
    // What follows a termination's reason is told in lines that hold colons as well.
    if (section_ == Section::termination && !key.starts_with("Terminati") &&
        key != "Triggered by Thread" && key != "Crashed Thread") {
      return false;
    }
    const bool ended = section_ == Section::termination;
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
      if (value.find("KERN_") != string_view::npos) set(report_.subtype, value);
      return true;
    }
    if (key == "Termination Reason") return take_termination(value);
    if (key == "Crashed Thread" || key == "Triggered by Thread") {
      string_view rest = value;
      if (const auto number = take_number(rest)) crashed_thread_ = *number;
      return true;
    }
    return ended;
  }

  static bool set(std::string& field, string_view value) {
    if (field.empty()) field = report_text(value);
    return true;
  }

  bool take_process(string_view value) {
    const size_t open = value.rfind('[');
    if (open == string_view::npos || !value.ends_with(']')) return set(report_.process, value);
    const auto pid = report_number(value.substr(open + 1, value.size() - open - 2));
    if (pid.has_value() && *pid <= INT32_MAX) report_.pid = static_cast<int64_t>(*pid);
    return set(report_.process, trimmed(value.substr(0, open)));
  }

  bool take_exception(string_view value) {
    is_crash_ = true;
    const size_t open = value.find('(');
    set(report_.exception, trimmed(value.substr(0, open)));
    if (open != string_view::npos && value.ends_with(')')) {
      set(report_.signal, value.substr(open + 1, value.size() - open - 2));
    }
    return true;
  }

  /// "Namespace SIGNAL, Code 11, Segmentation fault: 11", "Namespace SIGNAL, Code 0xb",
  /// "DYLD, [0x1] Library missing", "SIGNAL 5 Trace/BPT trap: 5".
  bool take_termination(string_view value) {
    section_ = Section::termination;
    take_prefix(value, "Namespace ");
    const size_t end = std::min(value.find(','), value.find(' '));
    set(report_.termination_namespace, trimmed(value.substr(0, end)));
    if (end == string_view::npos) return true;
    const bool comma = value[end] == ',';
    value = trimmed(value.substr(end + 1));
    if (!comma) {
      value.remove_prefix(std::min(value.size(), value.find_first_not_of("0123456789")));
    } else if (take_prefix(value, "Code ")) {
      value.remove_prefix(std::min(value.size(), value.find_first_of(" ,")));
    } else if (value.starts_with('[')) {
      value.remove_prefix(std::min(value.size(), value.find(']')));
    }
    const size_t begin = value.find_first_not_of(" ,]");
    return begin == string_view::npos || set(report_.termination_indicator, value.substr(begin));
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
