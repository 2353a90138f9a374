#include "reproducers/bundle/redact_crash_report.h"

#include <stdexcept>

#include "harness/crash_report/crash_text.h"
#include "harness/crash_report/ips.h"
#include "harness/crash_report/report_json.h"
#include "reproducers/bundle/allow_list.h"
#include "reproducers/bundle/text_scan.h"

namespace mpsprobe {
namespace {

using Json = nlohmann::ordered_json;

constexpr Wanted kHeader[] = {
    {"app_name"},           {"timestamp"}, {"app_version"},      {"slice_uuid"},
    {"build_version"},      {"platform"},  {"bug_type"},         {"os_version"},
    {"roots_installed"},    {"name"},      {"written_for_test"}, {"is_first_party"},
    {"share_with_app_devs"}};

#define MPSPROBE_FRAMES(AT)                                                                \
  {AT "[].imageOffset"}, {AT "[].symbol"}, {AT "[].symbolLocation"}, {AT "[].imageIndex"}, \
      {AT "[].sourceFile", Take::path}, {AT "[].sourceLine"}, {                            \
    AT "[].inline"                                                                         \
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
                            {"procName"},
                            {"procPath", Take::path},
                            {"parentProc", Take::path},
                            {"parentPid"},
                            {"responsibleProc", Take::path},
                            {"responsiblePid"},
                            {"coalitionName", Take::path},
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
                            {"termination.byProc", Take::path},
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
                            {"exceptionReason.composed_message"},
                            {"exceptionReason.format_string"},
                            {"usedImages[].source"},
                            {"usedImages[].arch"},
                            {"usedImages[].base"},
                            {"usedImages[].size"},
                            {"usedImages[].uuid"},
                            {"usedImages[].path", Take::path},
                            {"usedImages[].name"},
                            {"usedImages[].CFBundleIdentifier"},
                            {"usedImages[].CFBundleShortVersionString"},
                            {"usedImages[].CFBundleVersion"},
                            {"sharedCache", Take::all},
                            {"legacyInfo.threadTriggered.name"},
                            {"legacyInfo.threadTriggered.queue"},
                            {"asi.*[]"},
                            {"asiSignatures.*[]"},
                            {"fatalDyldError"},
                            // Of a GPU event.
                            {"bug_type"},
                            {"process_name"},
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

/// Line by line: what its keys name is taken out by the same rules as in any text.
std::string redact_lines(std::string_view content, Redactor& redactor) {
  std::string result;
  while (!content.empty()) {
    const size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    const std::string lower = ascii_lower(line.substr(0, 40));
    const size_t path = line.find('/');
    const bool names_process = lower.starts_with("path:") || lower.starts_with("parent process:") ||
                               lower.starts_with("responsible:") || lower.starts_with("coalition:");
    if (redactor.enabled() && names_process && path != std::string_view::npos) {
      result += redactor.text(line.substr(0, path));
      result += redactor.path(line.substr(path));
    } else {
      result += redactor.text(line);
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
    const Json first = ReportJson::parse(content.substr(0, end));
    if (first.contains("threads") || first.contains("usedImages")) {  // it lost its header line
      return as_text(watermarked(only_wanted(first, kBody, redactor), watermark), 1) + "\n";
    }
    const Json header = only_wanted(first, kHeader, redactor);
    std::string result = as_text(watermarked(header, watermark), -1) + "\n";
    const std::string_view body = content.substr(end);
    if (ReportJson::object_end(body) == std::string_view::npos) {
      return result + redact_lines(body, redactor);
    }
    const Json kept = only_wanted(ReportJson::parse(body), kBody, redactor);
    return result + as_text(watermarked(kept, watermark), 1) + "\n";
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace mpsprobe
