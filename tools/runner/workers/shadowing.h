#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/provenance/installed_torch.h"

namespace mpsprobe {

/// A LibTorch that is loaded in place of the one that the worker was built against.
struct Shadowing {
  std::string loaded;         ///< path of its libtorch_cpu
  std::string built_against;  ///< path of the other
  InstalledTorch files;       ///< what lies beside that says
  bool same_bytes = false;    ///< as far as the fingerprints say
};

/// By what a worker says of its LibTorch (`torch` in its provenance). Nothing where the two are one
/// file, or where it does not say, or where what it was built against is gone.
std::optional<Shadowing> find_shadowing(const nlohmann::json& torch);

/// "A is loaded in place of B (LibTorch 2.15.0), which the worker was built against"
std::string in_words(const Shadowing& shadowing);

/// What to do about it.
std::string remedy_for(const Shadowing& shadowing);

/// Of a worker that could not even answer: that the loader's variables may be why, with what to do;
/// empty where none is set. `environment` is the worker's (K=V).
std::string redirected_loader(const std::vector<std::string>& environment);

}  // namespace mpsprobe
