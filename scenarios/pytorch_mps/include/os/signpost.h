#pragma once

#include <os/log.h>
#include <stdint.h>

// Signposts, which are never enabled here.
typedef uint64_t os_signpost_id_t;
typedef uint8_t os_signpost_type_t;
enum : os_signpost_type_t {
  OS_SIGNPOST_EVENT,
  OS_SIGNPOST_INTERVAL_BEGIN,
  OS_SIGNPOST_INTERVAL_END
};
inline bool os_signpost_enabled(os_log_t) {
  return false;
}
inline os_signpost_id_t os_signpost_id_generate(os_log_t) {
  return 1;
}
inline os_signpost_id_t os_signpost_id_make_with_pointer(os_log_t, const void*) {
  return 1;
}
#define os_signpost_event_emit(...) static_cast<void>(0)
#define os_signpost_interval_begin(...) static_cast<void>(0)
#define os_signpost_interval_end(...) static_cast<void>(0)
