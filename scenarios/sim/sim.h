#pragma once

#include <stddef.h>

/// The C interface of the simulated Metal device, a shared library. Loaded by a worker with dlopen
/// and started explicitly; or preloaded (LD_PRELOAD, DYLD_INSERT_LIBRARIES) into any LibTorch
/// program with MPSPROBE_SIM_PROFILE set to the path of a profile, which starts it before main.
/// With the variable set and the profile broken, the process ends with exit status 3 and the reason
/// on stderr.
#ifdef __cplusplus
extern "C" {
#endif

/// Starts the simulation for the whole process, and says SIMULATED on stderr. Call once, on the
/// main thread, before other threads use LibTorch. Returns 0, also where the same profile runs
/// already. Otherwise returns nonzero and writes why (place, problem, remedy; one line, cut to
/// `error_bytes` with its null byte) to `error`, which may be null where `error_bytes` is 0. Never
/// throws.
int mpsprobe_sim_start(const char* profile_json_path, char* error, size_t error_bytes);

/// Gives the calling thread the next of 32 streams of the pool, until it asks again. Without a
/// running simulation this and the next two functions do nothing. Any thread.
void mpsprobe_sim_use_pool_stream(void);

/// Waits until the calling thread's stream has executed what was encoded. Any thread.
void mpsprobe_sim_synchronize(void);

/// Waits for every stream of the process. Any thread.
void mpsprobe_sim_synchronize_all(void);

/// Gives the device an empty command buffer on a queue of its own, whatever else hangs, and waits
/// for it: 0 where it completed, 1 where it ended with an error or nothing runs here; never returns
/// while the device executes nothing. Any thread.
int mpsprobe_sim_probe(void);

/// The path that an operation ("linear" or "aten::linear") took when it last ran: "graph",
/// "nograph", "blit", "none"; or "not observed" where it did not run or encodes nothing itself. The
/// pointer stays valid for the life of the process. Any thread.
const char* mpsprobe_sim_observed_path(const char* aten_name);

/// What runs here, as JSON: {"device", "profile", "profile_hash", "simulated"}; {"simulated":
/// false} where the simulation was not started. The pointer stays valid for the life of the
/// process.
const char* mpsprobe_sim_describe(void);

#ifdef __cplusplus
}
#endif
