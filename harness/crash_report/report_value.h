#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/crash_report/report_limits.h"

namespace mpsprobe {

// How crash reports write single values. Pure functions of untrusted text.

/// Seconds since 1970 of "2024-11-05 10:11:12.1234 +0100" (fraction optional, 'T' between date and
/// time and 'Z' as zone allowed); 0 where it is no such time or names no zone. Days by Howard
/// Hinnant's days_from_civil, so that neither a locale nor this machine's zone matters.
double report_time(std::string_view text);

/// A UUID or build id in lower-case hex without dashes; "" where it is none or all zero.
std::string report_image_id(std::string_view text);

/// The last part of a path, at most kMostNameBytes of it; the text itself where it is none.
std::string report_file_name(std::string_view path);

/// A whole number, decimal or with "0x"; nothing where the text is anything else.
std::optional<uint64_t> report_number(std::string_view text);

/// At most `most` bytes of `text`, not cut within a UTF-8 character.
std::string report_text(std::string_view text, size_t most = report_limits::kMostTextBytes);

/// Whether a table of memory regions (vmRegionInfo) marks a stack's guard as what was touched.
bool marks_stack_guard(std::string_view table);

/// The last words of a library, where one text may be split over entries: they are put together
/// while a quotation is open, as in "failed assertion `x". A word that ends one entry is parted
/// from what follows by a line end, as a wrapped line would be.
std::vector<std::string> join_split_texts(const std::vector<std::string>& entries);

}  // namespace mpsprobe
