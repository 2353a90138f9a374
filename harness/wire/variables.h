#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// What a cell does to the environment of its workers: variable and value, or kUnset.
using Variables = std::map<std::string, std::string>;

/// In place of a value: the variable is taken out of the environment.
inline constexpr std::string_view kUnset = "unset";

/// The variables that a value of the axis `env` sets: "A=0+B=unset"; none of "inherited". Throws
/// InputError (place "env") for any other form, for a name given twice, and for one of mpsprobe's
/// own. Whether a cell may set them is asked where processes are started (is_documented_switch).
Variables parse_variables(std::string_view value);

/// Whether a cell that somebody else wrote may set a variable: it is a switch that a library under
/// test documents, and its values are numbers and fixed words. Each is named one by one, since what
/// chooses a program, a library, a path or a host cannot be listed to its end.
bool is_documented_switch(std::string_view name);

/// The value of the axis `env` for them: in the order of their names. `parse_variables` reads it.
std::string to_axis_value(const Variables& variables);

/// "NAME" of "env.NAME", as people write the axis of one variable; empty for anything else.
std::string_view variable_of(std::string_view axis_name);

/// The values of the axis `env` that a list ("a,b") means as values of env.NAME: "NAME=a" and
/// "NAME=b"; of "inherited", which leaves it as it is, "inherited". Throws InputError.
std::vector<std::string> parse_variable_values(std::string_view name, std::string_view list);

/// Each of `some`, values of the axis `env`, together with each of `more`: how axes env.A and env.B
/// become values of it. Throws InputError where both set the same variable.
std::vector<std::string> combined(const std::vector<std::string>& some,
                                  const std::vector<std::string>& more);

}  // namespace mpsprobe
