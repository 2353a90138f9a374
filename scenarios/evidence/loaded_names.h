#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// Path of a library in this process that has `name` as a string constant of its own, whole: what a
/// variable of the environment that the library reads looks like in it. Empty where none has, and
/// for the program itself, which may name what it does not read. Some hundred milliseconds for a
/// name that nothing has. From any thread.
std::string library_with_name(std::string_view name);

}  // namespace mpsprobe
