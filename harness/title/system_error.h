#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether `text` begins with what the system says of an error number, as strerror() words it on
/// Linux and macOS ("No such file or directory"). It tells no bugs apart: who called what does.
/// Never throws; may be called from any thread.
bool begins_with_system_error(std::string_view text);

/// Whether `text` ends with it. As above.
bool ends_with_system_error(std::string_view text);

}  // namespace mpsprobe
