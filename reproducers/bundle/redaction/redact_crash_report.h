#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reproducers/bundle/redaction/redactor.h"

namespace mpsprobe {

/// Learns the identifiers of machine, user, session and incident that a crash report or a GPU event
/// names, and the names in its paths.
void learn_from_crash_report(std::string_view content, PersonalStrings& strings);

/// A report of the system (.ips, or the older text form) as it may be handed on: of an .ips what is
/// on a list of keys, with paths shortened; of a text every line, redacted. Image UUIDs, offsets,
/// symbols, OS build and model stay. Still a report that programs read. `watermark`, where it is
/// not empty, goes into header and body of an .ips, and before a text. Nothing where it is no
/// report at all. Never throws for what the content is.
std::optional<std::string> redact_crash_report(std::string_view content, Redactor& redactor,
                                               std::string_view watermark);

}  // namespace mpsprobe
