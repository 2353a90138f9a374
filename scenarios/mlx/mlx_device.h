#pragma once

#include <mlx/device.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/wire/cell.h"

namespace mpsprobe {

/// Takes TF32 out of float32 products, unless the environment says MLX_ENABLE_TF32 itself: the
/// tolerances are those of float32. Before MLX computes anything, on the main thread.
void begin_mlx();

/// Whether the products of float32 on this device may be of TF32, which has 10 bits.
bool mlx_has_tf32(::mlx::core::Device device);

/// Where MLX computes: on the GPU where this build of it has one and finds it, else on the CPU; or
/// on the CPU as the cell asks. Each result says which it was; those of two are never added up.
::mlx::core::Device mlx_device(DeviceUse use);

/// The device and what of MLX computes there, for people: "Apple M4 Max (Metal)",
/// "NVIDIA H100 80GB HBM3 (CUDA)", "NVIDIA H100 80GB HBM3 (CUDA, TF32)", "CPU".
std::string mlx_device_name(DeviceUse use);

/// The device for provenance: "backend", "simulated", "device".
nlohmann::json describe_mlx_device(DeviceUse use);

/// Which MLX is really loaded, as proved from the image in this process: "version", "path",
/// "build_id", "uuid", "fingerprint", "compiled_version". Throws SetupError where it is of another
/// release than the headers that this worker was compiled with.
nlohmann::json mlx_provenance();

}  // namespace mpsprobe
