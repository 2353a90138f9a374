#pragma once

#include <string_view>
#include <vector>

namespace mpsprobe {

/// Marks in `keep`, which has an entry for each byte, what in a text has a kind and names nobody:
/// addresses, releases, short numbers and those with a unit, times, names of the system's methods,
/// devices, signals and error codes, paths of the system and of the packages under test, names of
/// images of software (software_names.h). Linear in the text.
void mark_typed_values(std::string_view text, std::vector<bool>& keep);

/// Whether all of a text is one of these.
bool is_typed_value(std::string_view text);

}  // namespace mpsprobe
