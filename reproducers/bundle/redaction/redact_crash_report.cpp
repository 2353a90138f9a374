#include "reproducers/bundle/redaction/redact_crash_report.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "harness/crash_report/crash_text.h"
#include "harness/crash_report/ips.h"
#include "harness/crash_report/report_json.h"
#include "harness/signature/known_lines.h"
#include "reproducers/bundle/redaction/allow_list.h"
#include "reproducers/bundle/redaction/software_names.h"
#include "reproducers/bundle/redaction/text_scan.h"

namespace mpsprobe {
namespace {

using Json = nlohmann::ordered_json;

constexpr Wanted kHeader[] = {{"app_name", Take::image},
                              {"timestamp"},
                              {"app_version"},
                              {"slice_uuid", Take::build_id},
                              {"build_version"},
                              {"platform"},
                              {"bug_type"},
                              {"os_version"},
                              {"roots_installed"},
                              {"name", Take::image},
                              {"written_for_test"},
                              {"is_first_party"},
                              {"share_with_app_devs"}};

#define MPSPROBE_FRAMES(AT)                                                           \
  {AT "[].imageOffset"}, {AT "[].symbol", Take::symbol}, {AT "[].symbolLocation"},    \
      {AT "[].imageIndex"}, {AT "[].sourceFile", Take::path}, {AT "[].sourceLine"}, { \
    AT "[].inline"                                                                    \
  }

constexpr Wanted kBody[] = {{"written_for_test"},
                            {"uptime"},
                            {"procRole"},
                            {"version"},
                            {"deployVersion"},
                            {"modelCode"},
                            {"coalitionID"},
                            {"osVersion.train"},
                            {"osVersion.build"},
                            {"osVersion.releaseType"},
                            {"captureTime"},
                            {"codeSigningMonitor"},
                            {"pid"},
                            {"translated"},
                            {"cpuType"},
                            {"procLaunch"},
                            {"procStartAbsTime"},
                            {"procExitAbsTime"},
                            {"procName", Take::image},
                            {"procPath", Take::path},
                            {"parentProc", Take::image},
                            {"parentPid"},
                            {"responsibleProc", Take::image},
                            {"responsiblePid"},
                            {"coalitionName", Take::image},
                            {"sip"},
                            {"isCorpse"},
                            {"isNonFatal"},
                            {"isSimulated"},
                            {"exception.codes"},
                            {"exception.rawCodes[]", Take::number},
                            {"exception.type"},
                            {"exception.signal"},
                            {"exception.subtype"},
                            {"exception.message"},
                            {"termination.flags"},
                            {"termination.code"},
                            {"termination.namespace"},
                            {"termination.indicator"},
                            {"termination.byProc", Take::image},
                            {"termination.byPid"},
                            {"termination.reasons[]"},
                            {"termination.details[]"},
                            {"ktriageinfo"},
                            {"vmRegionInfo"},
                            {"vmregioninfo"},
                            {"faultingThread"},
                            {"threads[].id"},
                            {"threads[].triggered"},
                            {"threads[].name"},
                            {"threads[].queue"},
                            {"threads[].threadState", Take::number},
                            MPSPROBE_FRAMES("threads[].frames"),
                            MPSPROBE_FRAMES("lastExceptionBacktrace"),
                            {"exceptionReason.name"},
                            {"exceptionReason.type"},
                            {"exceptionReason.class"},
                            {"exceptionReason.composed_message", Take::output},
                            {"exceptionReason.format_string", Take::output},
                            {"usedImages[].source"},
                            {"usedImages[].arch"},
                            {"usedImages[].base"},
                            {"usedImages[].size"},
                            {"usedImages[].uuid", Take::build_id},
                            {"usedImages[].path", Take::path},
                            {"usedImages[].name", Take::image},
                            {"usedImages[].CFBundleIdentifier"},
                            {"usedImages[].CFBundleShortVersionString"},
                            {"usedImages[].CFBundleVersion"},
                            {"sharedCache.base", Take::number},
                            {"sharedCache.size", Take::number},
                            {"sharedCache.uuid", Take::build_id},
                            {"legacyInfo.threadTriggered.name"},
                            {"legacyInfo.threadTriggered.queue"},
                            {"asi.*[]", Take::output},
                            {"asiSignatures.*[]", Take::build_id},
                            {"fatalDyldError"},
                            // Of a GPU event.
                            {"bug_type"},
                            {"process_name", Take::image},
                            {"timestamp"},
                            {"roots_installed"},
                            {"date"},
                            {"reason"},
                            {"analysis", Take::all}};
#undef MPSPROBE_FRAMES

constexpr const char* kWatermarkKey = "mpsprobe_watermark";

Json watermarked(Json value, std::string_view watermark) {
  if (watermark.empty() || !value.is_object()) return value;
  Json marked;
  marked[kWatermarkKey] = watermark;
  marked.update(value);
  return marked;
}

std::string as_text(const Json& value, int indent) {
  return value.dump(indent, ' ', true, Json::error_handler_t::replace);
}

/// The names of programs and libraries that are neither the system's nor what everybody has: they
/// tell what else somebody uses, or works on.
class ForeignImages {
 public:
  explicit ForeignImages(Redactor& redactor) : redactor_(redactor) {}

  void take_out_of(Json& body) const {
    if (!redactor_.enabled() || !body.is_object() || !body.contains("usedImages")) return;
    Json& images = body["usedImages"];
    if (!images.is_array()) return;
    std::set<uint64_t> foreign;
    for (size_t i = 0; i < images.size(); ++i) {
      Json& image = images[i];
      if (!image.is_object()) continue;
      const std::string path = ReportJson::text(image, "path");
      const std::string name = ReportJson::text(image, "name");
      if (is_path_of_the_system(path) || (path.empty() && name.empty())) continue;
      const std::string last = path.substr(path.find_last_of('/') + 1);
      if (is_software_of_everybody(name.empty() ? last : name)) continue;
      image["name"] = redactor_.image(name.empty() ? last : name);
      image["path"] = "*/<image>";
      for (const char* key :
           {"CFBundleIdentifier", "CFBundleShortVersionString", "CFBundleVersion"})
        image.erase(key);
      foreign.insert(i);
    }
    for (Json* frames : lists_of_frames(body)) {
      for (Json& frame : *frames) {
        if (!frame.is_object() || !frame.contains("symbol")) continue;
        const auto image = ReportJson::number(frame, "imageIndex");
        if (!image.has_value() || !foreign.contains(*image)) continue;
        frame["symbol"] = redactor_.known(ReportJson::text(frame, "symbol"), Names::words);
      }
    }
  }

  /// Of the form before macOS 12: "0x1 - 0x2 +org.example.app (1.0) <UUID> /path".
  void learn(std::string_view text) {
    for (size_t begin = text.find("Binary Images:"); begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = text.substr(begin, end - begin);
      begin = end + 1;
      const size_t path = line.find("> /");
      const size_t range = line.find(" - ");
      if (path == std::string_view::npos || range == std::string_view::npos) continue;
      const size_t address = line.find_first_not_of(' ', range + 3);
      const size_t name = line.find_first_not_of(" +", std::min(line.find(' ', address), path));
      const std::string_view image = line.substr(name, line.find(' ', name) - name);
      const std::string_view whole = line.substr(path + 2);
      if (is_path_of_the_system(whole) || is_software_of_everybody(image) ||
          is_software_of_everybody(whole.substr(whole.find_last_of('/') + 1)) || image.size() < 3) {
        continue;
      }
      names_.emplace_back(image);
      names_.emplace_back(whole.substr(whole.find_last_of('/') + 1));
    }
  }

  std::string without(std::string_view line) const {
    std::string result(line);
    for (const std::string& name : names_) {
      for (size_t at = result.find(name); at != std::string::npos; at = result.find(name, at)) {
        result.replace(at, name.size(), redactor_.image(name));
        at += 1;
      }
    }
    return result;
  }

 private:
  static std::vector<Json*> lists_of_frames(Json& body) {
    std::vector<Json*> lists;
    if (body.contains("lastExceptionBacktrace")) lists.push_back(&body["lastExceptionBacktrace"]);
    if (!body.contains("threads") || !body["threads"].is_array()) return lists;
    for (Json& thread : body["threads"]) {
      if (thread.is_object() && thread.contains("frames")) lists.push_back(&thread["frames"]);
    }
    return lists;
  }

  Redactor& redactor_;
  std::vector<std::string> names_;
};

/// Line by line: what its keys name is taken out by the same rules as in any text.
std::string redact_lines(std::string_view content, Redactor& redactor) {
  ForeignImages images(redactor);
  if (redactor.enabled()) images.learn(content);
  std::string result;
  while (!content.empty()) {
    const size_t end = std::min(content.find('\n'), content.size());
    const std::string shown = images.without(content.substr(0, end));
    const std::string_view line = shown;
    const std::string lower = ascii_lower(line.substr(0, 40));
    const size_t path = line.find('/');
    const bool names_process = lower.starts_with("path:");
    const bool names_other = lower.starts_with("parent process:") ||
                             lower.starts_with("responsible:") || lower.starts_with("coalition:");
    const size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (redactor.enabled() && names_other && value != std::string_view::npos) {
      const size_t last = line.find_last_of('/');
      const size_t name = last == std::string_view::npos ? value : last + 1;
      const size_t name_end = std::min(line.find(" [", name), line.size());
      result += line.substr(0, value);
      result += redactor.image(line.substr(name, name_end - name));
      result += line.substr(name_end);
    } else if (redactor.enabled() && names_process && path != std::string_view::npos) {
      result += redactor.known(line.substr(0, path), Names::words);
      result += redactor.path(line.substr(path));
    } else {
      FrameLine frame;
      const bool of_library = is_frame_line(line, frame) && shown == content.substr(0, end);
      result += redactor.known(line, of_library ? Names::symbols : Names::words);
    }
    result += '\n';
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return result;
}

}  // namespace

void learn_from_crash_report(std::string_view content, PersonalStrings& strings) {
  strings.learn_text(content);
  const size_t header = ReportJson::object_end(content);
  if (header == std::string_view::npos) return;
  const std::string_view body = content.substr(header);
  for (std::string_view part : {content.substr(0, header), body}) {
    try {
      strings.learn_json(ReportJson::parse(part));
    } catch (const std::exception&) {
      continue;  // no JSON: its text was looked through above
    }
  }
}

std::optional<std::string> redact_crash_report(std::string_view content, Redactor& redactor,
                                               std::string_view watermark) {
  if (std::holds_alternative<Unreadable>(parse_crash_report(content))) return std::nullopt;
  redactor.at("crash reports");
  const size_t end = ReportJson::object_end(content);
  if (end == std::string_view::npos) {
    return (watermark.empty() ? "" : std::string(watermark) + "\n") +
           redact_lines(content, redactor);
  }
  try {
    Json first = ReportJson::parse(content.substr(0, end));
    ForeignImages(redactor).take_out_of(first);
    if (first.contains("threads") || first.contains("usedImages")) {  // it lost its header line
      return as_text(watermarked(only_wanted(first, kBody, redactor), watermark), 1) + "\n";
    }
    const Json header = only_wanted(first, kHeader, redactor);
    std::string result = as_text(watermarked(header, watermark), -1) + "\n";
    const std::string_view body = content.substr(end);
    if (ReportJson::object_end(body) == std::string_view::npos) {
      return result + redact_lines(body, redactor);
    }
    Json whole = ReportJson::parse(body);
    ForeignImages(redactor).take_out_of(whole);
    const Json kept = only_wanted(whole, kBody, redactor);
    return result + as_text(watermarked(kept, watermark), 1) + "\n";
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace mpsprobe
