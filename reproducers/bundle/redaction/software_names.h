#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether a name is of ASCII letters, digits, '_', '-', '.' and '+' alone, and no longer than
/// files' are.
bool is_plain_name(std::string_view name);

/// Whether the last part of a path is what libraries, programs and sources are called: letters,
/// digits and "_-.+" of ASCII with an ending that such files have, or a name of
/// is_software_of_everybody. Anything else may be how somebody named a document.
bool is_name_of_a_file_of_software(std::string_view name);

/// The ending that makes a name one of those, or nothing: ".so" of "libplan.so.2".
std::string_view ending_of_software(std::string_view name);

/// Whether a path leads where every machine has the same: what lies there names nobody.
bool is_path_of_the_system(std::string_view path);

/// Whether an image or a process of this name is software that everybody has: of the system,
/// LibTorch, Python, mpsprobe. The name of another program says what somebody works on.
bool is_software_of_everybody(std::string_view name);

}  // namespace mpsprobe
