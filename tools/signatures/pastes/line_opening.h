#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether `words` begin like a line of their own, and hardly like the rest of a broken one: a name
/// and a colon, a path, a frame of a stack, what runtimes and shells say of a death. Never throws,
/// may be called from any thread.
bool begins_a_line(std::string_view words);

/// Whether they begin so that no sentence goes on like it: "Exception raised from ". The same holds
/// of it.
bool surely_begins_a_line(std::string_view words);

}  // namespace mpsprobe
