#pragma once

#include <nlohmann/json.hpp>

#include "harness/crash_report/crash_report.h"
#include "harness/stack/stack.h"

namespace mpsprobe {

/// What was found out about a dead process, as the journal and the report hold it. Addresses and
/// offsets are text in hexadecimal: they do not fit the numbers of every reader of JSON.
nlohmann::json stacks_to_json(const StackEvidence& stacks);
/// Throws json::exception or InputError for anything else than stacks_to_json gives.
StackEvidence stacks_from_json(const nlohmann::json& object);

nlohmann::json addresses_to_json(const std::vector<FrameAddress>& frames);
std::vector<FrameAddress> addresses_from_json(const nlohmann::json& list);

nlohmann::json crash_report_to_json(const CrashReport& report);
CrashReport crash_report_from_json(const nlohmann::json& object);

nlohmann::json gpu_event_to_json(const GpuEvent& event);
GpuEvent gpu_event_from_json(const nlohmann::json& object);

/// "0x1f". The other way: throws InputError where the text is no such number.
std::string to_hex(uint64_t value);
uint64_t from_hex(const std::string& text);

}  // namespace mpsprobe
