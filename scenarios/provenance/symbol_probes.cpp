#include "scenarios/provenance/symbol_probes.h"

#include <dlfcn.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/wire/split.h"

namespace mpsprobe {

bool process_has_symbol(const char* name) {
  // nm shows a Mach-O symbol with one underscore more than dlsym wants.
  const bool mach_o = std::string_view(name).starts_with("__Z");
  return dlsym(RTLD_DEFAULT, mach_o ? name + 1 : name) != nullptr;
}

nlohmann::json probed_symbols() {
  const char* const list = std::getenv(kProbesVariable);
  return probed_symbols(list == nullptr ? std::string_view() : list);
}

nlohmann::json probed_symbols(std::string_view list) {
  nlohmann::json answers = nlohmann::json::object();
  for (const std::string_view each : split(list, ' ')) {
    const std::string name(each);
    if (!name.empty()) answers[name] = process_has_symbol(name.c_str());
  }
  return answers;
}

}  // namespace mpsprobe
