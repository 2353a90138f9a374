#pragma once

#include <stddef.h>

/// The C interface of the stand-in for PyTorch's device `mps`: a shared library that makes the
/// device type work in stock LibTorch where there is no Mac, on the simulated Metal device. Tensors
/// live in the host's memory and the CPU computes them; streams, events and encoders follow
/// PyTorch's rules, and each operation is encoded on the simulated device before. Linked, or
/// preloaded into any LibTorch program; MPSPROBE_SIM_PROFILE names a profile file, which starts it
/// before main. With libmpsprobe_stand_in_objects linked or preloaded as well, device, queues,
/// command buffers and encoders are Objective-C objects of the simulated device's face: an
/// extension calls them as on a Mac, and the observer sees it. PYTORCH_MPS_LOG_PROFILE_INFO=1 has
/// it print LibTorch's profile log. With the profile's variable set and the profile broken, the
/// process ends with exit status 3 and the reason on stderr.
#ifdef __cplusplus
extern "C" {
#endif

/// Starts it with a profile, and says SIMULATED on stderr. Call once, on the main thread, before
/// anything that needs the device: that would start one without defects. Returns 0, also where the
/// same profile runs already. Otherwise returns nonzero and writes why (one line, cut to
/// `error_bytes` with its null byte) to `error`, which may be null where `error_bytes` is 0. Never
/// throws.
int mpsprobe_stand_in_start(const char* profile_json_path, char* error, size_t error_bytes);

/// As mpsprobe_sim_describe() of scenarios/sim/sim.h. Starts one without defects where none runs.
const char* mpsprobe_stand_in_describe(void);

/// As mpsprobe_sim_probe().
int mpsprobe_stand_in_probe(void);

#ifdef __cplusplus
}
#endif
