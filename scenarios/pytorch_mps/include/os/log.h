#pragma once

// The system's log, as far as PyTorch's profiler has it: nobody reads it here.
typedef struct os_log_s* os_log_t;
inline os_log_t os_log_create(const char*, const char*) {
  static char log;
  return reinterpret_cast<os_log_t>(&log);
}
inline void os_release(os_log_t) {}
