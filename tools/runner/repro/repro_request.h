#pragma once

#include <filesystem>

#include "reproducers/minimise/minimise.h"

namespace mpsprobe {

constexpr const char* kReproRequestFile = "request.json";

/// What a minimisation was asked for, beside its journal, so that it can be resumed: the signature
/// and the limits. Not the start cell and the operations, which the journal's header holds. Throws
/// MachineError where it cannot be written.
void write_request(const std::filesystem::path& file, const MinimiseRequest& request);

/// Throws InputError where it is not of this form.
MinimiseRequest read_request(const std::filesystem::path& file);

}  // namespace mpsprobe
