#include "harness/crash_report/gpu_event.h"

#include <algorithm>

#include "harness/crash_report/report_value.h"

namespace mpsprobe {
namespace {

using Json = ReportJson;
using Value = ReportJson::Value;

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

}  // namespace

ParsedReport read_gpu_event(const Value& header, const Value& body) {
  GpuEvent event;
  event.incident = Json::text(header, "incident_id");
  if (event.incident.empty()) event.incident = Json::text(body, "incident");
  event.process = Json::text(body, "process_name");
  event.captured = captured_of(header, body);
  event.summary = summary_of(body);
  return event;
}

}  // namespace mpsprobe
