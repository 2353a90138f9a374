#include "harness/crash_report/ips.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/crash_report/crash_report.h"
#include "harness/crash_report/report_limits.h"
#include "harness/crash_report/report_value.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

/// Keeps the order of keys: the texts of a report are told in it.
using Value = nlohmann::ordered_json;

/// JSON of a report, within report_limits.h, and reading it without trusting it: every function
/// takes a value of any type, and gives back nothing where it is not what was looked for.
struct Json {
  /// Where the first JSON object of `text` ends, one past its closing brace; npos where it does not
  /// (yet). Only pairs braces outside of strings: the parser judges the rest.
  static size_t object_end(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || text[begin] != '{') return std::string_view::npos;
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = begin; i < text.size(); ++i) {
      const char c = text[i];
      if (quoted) {
        if (c == '\\') ++i;
        if (c == '"') quoted = false;
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        return i + 1;
      }
    }
    return std::string_view::npos;
  }

  /// Throws std::runtime_error that says what is wrong.
  static Value parse(std::string_view text) {
    // Keys that keep their order are compared one by one.
    constexpr JsonLimits kLimits = {.depth = report_limits::kMostDepth,
                                    .values = report_limits::kMostValues,
                                    .keys = report_limits::kMostKeys,
                                    .repeated_keys = true};
    // In the order of JsonExcess::Kind.
    constexpr const char* kExcess[] = {"its values are nested too deep", "it holds too many values",
                                       "an object in it has too many keys"};
    if (const auto excess = json_excess(text, kLimits)) {
      throw std::runtime_error(kExcess[static_cast<size_t>(excess->kind)]);
    }
    try {
      return Value::parse(text);
    } catch (const nlohmann::json::exception& error) {
      throw std::runtime_error(report_text(json_problem(error)));
    }
  }

  /// The member called `key`, or null.
  static const Value& member(const Value& object, const char* key) {
    static const Value kNull;
    if (!object.is_object()) return kNull;
    const auto found = object.find(key);
    return found == object.end() ? kNull : *found;
  }

  /// A text, or a number as text; otherwise "".
  static std::string text(const Value& value) {
    if (value.is_string()) return report_text(value.get_ref<const std::string&>());
    return value.is_number() ? json_text(value) : "";
  }
  static std::string text(const Value& object, const char* key) {
    return text(member(object, key));
  }

  /// A number that is not negative, also where it is written as text.
  static std::optional<uint64_t> number(const Value& value) {
    if (value.is_number_unsigned()) return value.get<uint64_t>();
    if (value.is_string()) return report_number(value.get_ref<const std::string&>());
    if (value.is_number_float()) {
      const double number = value.get<double>();
      if (std::isfinite(number) && number >= 0 && number < 9e18) {
        return static_cast<uint64_t>(number);
      }
    }
    return std::nullopt;
  }
  static std::optional<uint64_t> number(const Value& object, const char* key) {
    return number(member(object, key));
  }

  static bool is_true(const Value& value) {
    if (value.is_boolean()) return value.get<bool>();
    return number(value).value_or(0) != 0;
  }
};

constexpr std::string_view kGpuEvent = "284";

bool is_crash_by_name(std::string_view bug_type) {
  return bug_type == "309" || bug_type == "109";
}
bool is_crash_by_content(std::string_view bug_type) {
  return bug_type == "308" || bug_type == "385" || bug_type.empty();
}

constexpr size_t kMostSummaryBytes = 256;

/// One line for people, from what the report says and nothing else.
std::string summary_of(const Value& body) {
  const Value& analysis = Json::member(body, "analysis");
  std::string summary = Json::text(analysis, "restart_reason_desc");
  std::string numbers;
  for (const char* key : {"restart_reason", "signature", "guilty_dm"}) {
    const std::optional<uint64_t> number = Json::number(analysis, key);
    if (!number.has_value()) continue;
    numbers += (numbers.empty() ? "" : ", ") + std::string(key) + " " + std::to_string(*number);
  }
  if (summary.size() > kMostSummaryBytes) summary.resize(kMostSummaryBytes);
  if (summary.empty())
    summary = numbers.empty() ? "no reason given" : numbers;
  else if (!numbers.empty())
    summary += " (" + numbers + ")";
  std::replace_if(
      summary.begin(), summary.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }, ' ');
  return summary;
}

/// `timestamp` is a number in the body and a date in the header.
double captured_of(const Value& header, const Value& body) {
  if (const auto seconds = Json::number(body, "timestamp")) return static_cast<double>(*seconds);
  const double told = report_time(Json::text(body, "timestamp"));
  return told != 0 ? told : report_time(Json::text(header, "timestamp"));
}

/// Reads the two documents of a GPU event (bug_type 284). Its shape is not published: what is known
/// of it comes from reports that people showed. The keys used are process_name, timestamp (seconds
/// since 1970) and, in `analysis`, restart_reason_desc, restart_reason, signature and guilty_dm;
/// each may be missing, every other is left alone.
ParsedReport read_gpu_event(const Value& header, const Value& body) {
  GpuEvent event;
  event.incident = Json::text(header, "incident_id");
  if (event.incident.empty()) event.incident = Json::text(body, "incident");
  event.process = Json::text(body, "process_name");
  event.captured = captured_of(header, body);
  event.summary = summary_of(body);
  return event;
}

struct Image {
  std::string name;
  std::string id;
};

std::vector<Image> images_of(const Value& body) {
  std::vector<Image> images;
  const Value& list = Json::member(body, "usedImages");
  if (!list.is_array()) return images;
  for (const Value& entry : list) {
    if (images.size() == report_limits::kMostImages) break;
    const std::string path = Json::text(entry, "path");
    const std::string name = path.empty() ? Json::text(entry, "name") : path;
    // Indices count every entry, also those that are damaged.
    images.push_back({report_file_name(name), report_image_id(Json::text(entry, "uuid"))});
  }
  return images;
}

std::string name_of(const Value& object, const char* key) {
  return report_text(Json::text(object, key), report_limits::kMostNameBytes);
}

StackFrame frame_of(const Value& entry, const std::vector<Image>& images) {
  StackFrame frame;
  const std::optional<uint64_t> index = Json::number(entry, "imageIndex");
  if (index.has_value() && *index < images.size()) {
    frame.image = images[*index].name;
    frame.image_id = images[*index].id;
  }
  frame.offset = Json::number(entry, "imageOffset").value_or(0);
  frame.function = report_text(Json::text(entry, "symbol"), report_limits::kMostFunctionBytes);
  frame.source = report_file_name(Json::text(entry, "sourceFile"));
  if (!frame.source.empty()) {
    const std::optional<uint64_t> line = Json::number(entry, "sourceLine");
    if (line.has_value()) frame.source += ":" + std::to_string(*line);
  }
  frame.inlined = Json::is_true(Json::member(entry, "inline"));
  return frame;
}

/// What a report's frames are read with: what they refer to, and how many more may be.
struct Frames {
  const std::vector<Image>& images;
  size_t left = report_limits::kMostFramesInAll;
};

std::vector<StackFrame> frames_of(const Value& list, Frames& all) {
  std::vector<StackFrame> frames;
  if (!list.is_array()) return frames;
  for (const Value& entry : list) {
    if (frames.size() == report_limits::kMostFrames || all.left == 0) break;
    if (!entry.is_object()) continue;
    frames.push_back(frame_of(entry, all.images));
    --all.left;
  }
  return frames;
}

/// The index of the thread that crashed, or the number of threads.
size_t faulting_index(const Value& body, const Value& threads) {
  const auto triggered = std::find_if(threads.begin(), threads.end(), [](const Value& thread) {
    return Json::is_true(Json::member(thread, "triggered"));
  });
  if (triggered != threads.end()) return static_cast<size_t>(triggered - threads.begin());
  const std::optional<uint64_t> index = Json::number(body, "faultingThread");
  return index.has_value() && *index < threads.size() ? *index : threads.size();
}

std::vector<ThreadStack> threads_of(const Value& body, Frames& all) {
  std::vector<ThreadStack> stacks;
  const Value& threads = Json::member(body, "threads");
  if (!threads.is_array()) return stacks;
  const size_t faulting = faulting_index(body, threads);
  const auto add = [&](size_t index) {
    const Value& thread = threads[index];
    ThreadStack stack;
    stack.thread_id = Json::number(thread, "id").value_or(0);
    stack.name = name_of(thread, "name");
    if (stack.name.empty()) stack.name = name_of(thread, "queue");
    stack.faulting = index == faulting;
    stack.frames = frames_of(Json::member(thread, "frames"), all);
    stacks.push_back(std::move(stack));
  };
  if (faulting < threads.size()) add(faulting);
  for (size_t i = 0; i < threads.size() && stacks.size() < report_limits::kMostThreads; ++i) {
    if (i != faulting) add(i);
  }
  return stacks;
}

std::vector<std::string> texts_of(const Value& value) {
  std::vector<std::string> texts;
  if (value.is_string()) texts.push_back(Json::text(value));
  if (!value.is_array()) return texts;
  for (const Value& entry : value) {
    if (texts.size() == report_limits::kMostTexts) break;
    if (std::string text = Json::text(entry); !text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> application_info_of(const Value& body) {
  std::vector<std::string> info;
  const Value& asi = Json::member(body, "asi");
  if (asi.is_object()) {
    for (const auto& [image, entries] : asi.items()) {
      // A text is split over the entries of one library, never over two.
      for (std::string& text : join_split_texts(texts_of(entries))) {
        if (info.size() < report_limits::kMostTexts) info.push_back(std::move(text));
      }
    }
  } else {
    info = join_split_texts(texts_of(asi));
  }
  const Value& reason = Json::member(body, "exceptionReason");
  const std::string message = Json::text(reason, "composed_message");
  if (!message.empty()) info.push_back(Json::text(reason, "name") + ": " + message);
  return info;
}

std::string first_line(const std::string& text) {
  return std::string(trimmed(std::string_view(text).substr(0, text.find('\n'))));
}

std::string os_version_of(const Value& header, const Value& body) {
  const Value& os = Json::member(body, "osVersion");
  const std::string train = Json::text(os, "train");
  const std::string build = Json::text(os, "build");
  if (!train.empty()) return build.empty() ? train : train + " (" + build + ")";
  return Json::text(header, "os_version");
}

std::string first_of(const std::string& first, const std::string& second) {
  return first.empty() ? second : first;
}

CrashReport crash_of(const Value& header, const Value& body) {
  CrashReport report;
  report.incident = first_of(Json::text(body, "incident"), Json::text(header, "incident_id"));
  report.bug_type = first_of(Json::text(header, "bug_type"), Json::text(body, "bug_type"));
  report.pid = static_cast<int64_t>(
      std::min<uint64_t>(Json::number(body, "pid").value_or(0), uint64_t{INT32_MAX}));
  report.process = first_of(Json::text(body, "procName"), Json::text(header, "app_name"));
  report.launched = report_time(Json::text(body, "procLaunch"));
  report.captured = report_time(Json::text(body, "captureTime"));
  report.os_version = os_version_of(header, body);
  report.model = Json::text(body, "modelCode");
  const Value& exception = Json::member(body, "exception");
  report.exception = Json::text(exception, "type");
  report.signal = Json::text(exception, "signal");
  report.subtype = Json::text(exception, "subtype");
  // Both spellings are written by one version or another.
  bool guard = false;
  for (const char* key : {"vmRegionInfo", "vmregioninfo"}) {
    const std::string regions = Json::text(body, key);
    if (report.subtype.empty()) report.subtype = first_line(regions);
    guard = guard || marks_stack_guard(regions);
  }
  if (guard) report.subtype += " (stack guard)";
  if (const std::string said = Json::text(exception, "message"); !said.empty()) {
    report.subtype = report_text(report.subtype + " (" + said + ")");
  }
  const Value& termination = Json::member(body, "termination");
  report.termination_namespace = Json::text(termination, "namespace");
  report.termination_indicator = Json::text(termination, "indicator");
  report.termination_reasons = texts_of(Json::member(termination, "reasons"));
  report.application_info = application_info_of(body);
  const std::vector<Image> images = images_of(body);
  // First what no stack of another thread may use up.
  Frames all{images};
  report.last_exception = frames_of(Json::member(body, "lastExceptionBacktrace"), all);
  report.threads = threads_of(body, all);
  return report;
}

/// A death is told by the exception that caused it, or by the stacks that it left.
bool tells_of_a_crash(const Value& body) {
  const Value& exception = Json::member(body, "exception");
  return exception.is_object() && !Json::text(exception, "type").empty() &&
         Json::member(body, "threads").is_array();
}

ParsedReport read_body(const std::string& bug_type, const Value& header, const Value& body) {
  if (bug_type == kGpuEvent) return read_gpu_event(header, body);
  if (is_crash_by_name(bug_type)) {
    if (!body.contains("exception") && !body.contains("termination") && !body.contains("threads")) {
      return Unreadable{"its body has neither exception nor termination nor threads"};
    }
  } else if (!is_crash_by_content(bug_type) || !tells_of_a_crash(body)) {
    return Unreadable{"bug_type \"" + report_text(bug_type) + "\" is no crash"};
  }
  for (const char* key : {"isSimulated", "isNonFatal"}) {
    if (Json::is_true(Json::member(body, key))) {
      return Unreadable{std::string("the process went on (") + key + ")"};
    }
  }
  return crash_of(header, body);
}

/// A header line before a report in the text form.
ParsedReport read_text_body(const std::string& bug_type, const Value& header,
                            std::string_view content) {
  if (!is_crash_by_name(bug_type)) return Unreadable{"its body is no JSON object"};
  ParsedReport parsed = parse_crash_text(content);
  if (auto* report = std::get_if<CrashReport>(&parsed)) {
    report->bug_type = bug_type;
    if (report->incident.empty()) report->incident = Json::text(header, "incident_id");
    if (report->os_version.empty()) report->os_version = Json::text(header, "os_version");
  }
  return parsed;
}

ParsedReport parse_ips(std::string_view content) {
  const size_t header_end = Json::object_end(content);
  if (header_end == std::string_view::npos) return Unreadable{"it is cut off in its header"};
  const Value header = Json::parse(content.substr(0, header_end));
  const std::string_view rest = trimmed(content.substr(header_end));
  // A body that lost its header line still says what it is.
  const bool headless = header.contains("threads") || header.contains("usedImages");
  if (rest.empty() && !headless) return Unreadable{"it has a header and no body"};
  std::string bug_type = Json::text(header, "bug_type");
  if (headless) return read_body(bug_type, header, header);
  if (rest.front() != '{') return read_text_body(bug_type, header, rest);
  if (!is_wanted_bug_type(bug_type)) {
    return Unreadable{"bug_type \"" + bug_type + "\" is no crash"};
  }
  const size_t body_end = Json::object_end(rest);
  if (body_end == std::string_view::npos) return Unreadable{"it is cut off in its body"};
  const Value body = Json::parse(rest.substr(0, body_end));
  if (bug_type.empty()) bug_type = Json::text(body, "bug_type");
  return read_body(bug_type, header, body);
}

}  // namespace

ParsedReport parse_crash_report(std::string_view content) {
  if (content.size() > report_limits::kMostBytes) return Unreadable{"it is larger than 64 MiB"};
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  const size_t begin = content.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return Unreadable{"it is empty"};
  if (content[begin] != '{') return parse_crash_text(content);
  try {
    return parse_ips(content);
  } catch (const std::runtime_error& error) {
    return Unreadable{error.what()};
  }
}

std::optional<ReportHeader> parse_report_header(std::string_view beginning) {
  const size_t end = Json::object_end(beginning);
  if (end == std::string_view::npos) return std::nullopt;
  try {
    const Value header = Json::parse(beginning.substr(0, end));
    return ReportHeader{Json::text(header, "bug_type"),
                        report_time(Json::text(header, "timestamp"))};
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

bool is_wanted_bug_type(std::string_view bug_type) {
  return is_crash_by_name(bug_type) || is_crash_by_content(bug_type) || bug_type == kGpuEvent;
}

}  // namespace mpsprobe
