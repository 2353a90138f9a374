#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether a path leads where every machine has the same: what lies there names nobody.
bool is_path_of_the_system(std::string_view path);

/// Whether an image, a package or a process of this name is of the system, of the software under
/// test or of what runs it. The name of another one says what somebody works on.
bool is_name_of_the_software(std::string_view name);

/// Where a path goes on behind the folder that Python packages lie in, with a package of the
/// software under test; npos: it does not.
size_t place_in_a_package(std::string_view path);

/// Whether pip calls a package so that everybody has. Others say what somebody works on.
bool is_public_package(std::string_view name);

/// The ending of a source or a library: ".so" of "libplan.so.2". Empty: another, or none.
std::string_view ending_of_software(std::string_view name);

/// Whether a variable of the environment is about Metal, PyTorch, the loader or threads.
bool is_variable_of_the_software(std::string_view name);

}  // namespace mpsprobe
