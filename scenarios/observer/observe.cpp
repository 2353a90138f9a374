#include "scenarios/observer/observe.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "scenarios/observer/classes.h"
#include "scenarios/observer/interpose.h"
#include "scenarios/observer/report.h"
#include "scenarios/observer/trap.h"

#define MPSPROBE_OBSERVER_EXPORT extern "C" __attribute__((visibility("default")))

#ifdef __APPLE__
extern "C" id MTLCreateSystemDefaultDevice(void);
#endif

namespace {

/// The frameworks' own; null where there are none in this program.
id make_device() {
#ifdef __APPLE__
  return MTLCreateSystemDefaultDevice();
#else
  // Behind this library where it is preloaded, anywhere where it was loaded later.
  void* found = dlsym(RTLD_NEXT, "MTLCreateSystemDefaultDevice");
  if (found == nullptr) found = dlsym(RTLD_DEFAULT, "MTLCreateSystemDefaultDevice");
  Dl_info its{};
  Dl_info own{};
  if (found == nullptr || dladdr(found, &its) == 0 ||
      dladdr(reinterpret_cast<const void*>(&make_device), &own) == 0 ||
      its.dli_fbase == own.dli_fbase) {
    return nullptr;
  }
  return reinterpret_cast<id (*)()>(found)();
#endif
}

}  // namespace

MPSPROBE_OBSERVER_EXPORT void mpsprobe_observer_watch(void* device) {
  using namespace mpsprobe::observer;
  static std::once_flag once;
  std::call_once(once, [device] {
    if (std::getenv("MPSPROBE_OBSERVER_TRAP") != nullptr) set_trap();
    watch_classes(static_cast<id>(device));
    say_begin();
    std::atexit(say_end);
  });
  if (device != nullptr) see(this_thread(), static_cast<id>(device));
}

MPSPROBE_OBSERVER_EXPORT int mpsprobe_observer_begin(void) {
  using namespace mpsprobe::observer;
  const id device = make_device();
  if (device == nullptr) return 0;
  mpsprobe_observer_watch(device);
  send<void>(device, "release");
  return 1;
}

MPSPROBE_OBSERVER_EXPORT void mpsprobe_observer_tell(mpsprobe_observer_finding finding,
                                                     void* context) {
  mpsprobe::observer::tell(finding, context);
}

MPSPROBE_OBSERVER_EXPORT void mpsprobe_observer_trap(void) {
  mpsprobe::observer::set_trap();
}

MPSPROBE_OBSERVER_EXPORT unsigned long long mpsprobe_observer_calls(void) {
  return mpsprobe::observer::calls_observed();
}

#ifdef __APPLE__

namespace {

id default_device() {
  const id device = make_device();
  mpsprobe_observer_watch(device);
  return device;
}

MPSPROBE_INTERPOSE(kDevice, default_device, MTLCreateSystemDefaultDevice);

}  // namespace

#else

// Found before the framework's own in a program that this library is preloaded into.
MPSPROBE_OBSERVER_EXPORT id MTLCreateSystemDefaultDevice(void) {
  const id device = make_device();
  if (device != nullptr) mpsprobe_observer_watch(device);
  return device;
}

#endif
