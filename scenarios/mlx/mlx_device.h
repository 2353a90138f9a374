#pragma once

#include <mlx/device.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mpsprobe {

/// Where MLX computes here: Metal on a Mac, the CPU elsewhere. Cells never choose: each result says
/// which it was, and results of the two are not added up.
::mlx::core::Device mlx_device();

/// The device for people: "Apple M4 Max (GPU)", "CPU".
std::string mlx_device_name();

/// The device for provenance: "backend", "simulated", "device".
nlohmann::json describe_mlx_device();

/// Which MLX is really loaded, as proved from the image in this process: "version", "path",
/// "build_id", "uuid", "fingerprint", "compiled_version". Throws SetupError where it is of another
/// release than the headers that this worker was compiled with.
nlohmann::json mlx_provenance();

}  // namespace mpsprobe
