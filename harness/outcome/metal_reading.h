#pragma once

#include <optional>

#include "harness/outcome/reading.h"

namespace mpsprobe {

/// The message of Metal's and MPS's own assertions, "failed assertion `message'", which their
/// validation layers spread over several lines; the method in front of it where the message is cut
/// off or private. As read_match otherwise.
std::optional<ReadText> read_quoted(const Reader& reader, const Match& match);

}  // namespace mpsprobe
