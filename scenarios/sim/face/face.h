#pragma once

#include <stddef.h>

/// The C interface of the simulated Metal device's Objective-C face: a shared library that offers
/// Apple's classes (Metal, MetalPerformanceShaders, MetalPerformanceShadersGraph, as far as
/// scenarios/frameworks declares them) on GNUstep, computing real numbers on the CPU. A program
/// that is linked with it needs none of these functions: where nothing was started, the first
/// MTLCreateSystemDefaultDevice() takes the profile that MPSPROBE_SIM_PROFILE names, or one without
/// defects.
#ifdef __cplusplus
extern "C" {
#endif

/// Starts the simulation for the whole process with the profile of that path, and says SIMULATED on
/// stderr. Call once, before the first device is made. Returns 0, also where the same profile runs
/// already. Otherwise returns nonzero and writes why (place, problem, remedy; one line, cut to
/// `error_bytes` with its null byte) to `error`. Never throws. Any thread.
int mpsprobe_metal_face_start(const char* profile_json_path, char* error, size_t error_bytes);

/// What runs here, as JSON: {"device", "profile", "profile_hash", "simulated"}. Starts the
/// simulation where nothing has yet. The pointer stays valid for the life of the process.
const char* mpsprobe_metal_face_describe(void);

#ifdef __cplusplus
}
#endif
