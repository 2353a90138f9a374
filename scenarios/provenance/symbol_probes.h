#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "harness/provenance/probes_variable.h"

namespace mpsprobe {

/// True where the process has loaded a library that exports this (mangled) symbol. With or without
/// the underscore that Mach-O puts in front.
bool process_has_symbol(const char* name);

/// The answers to kProbesVariable: an object of symbol and true or false; empty where nothing is
/// asked. Answer the same in `describe` and `hello`: before a device is touched, which may load
/// more.
nlohmann::json probed_symbols();

/// The same for a list as the variable holds it.
nlohmann::json probed_symbols(std::string_view list);

}  // namespace mpsprobe
