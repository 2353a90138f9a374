#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// A stable title of an unknown text: numbers, sizes, addresses, UUIDs, process ids and line
/// numbers give way to `N` or vanish, element types to `<type>`, URLs to `<url>`, data files and
/// paths that the system refused to `<file>`; other paths lose their folders, class names of a chip
/// lose it (AGXG16XFamily* is AGXFamily*), names that vary (variable_part.h), template arguments,
/// quotes, repetitions, advice and the place in the source are left out. Only the first words are
/// kept (first_words.h). One line of at most 160 printable ASCII characters. Applied twice it
/// changes nothing more. Looks at the first 1024 bytes only.
std::string normalise_title(std::string_view message);

}  // namespace mpsprobe
