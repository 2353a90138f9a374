#include "scenarios/observer/observe.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "scenarios/observer/classes.h"
#include "scenarios/observer/report.h"

#define MPSPROBE_OBSERVER_EXPORT extern "C" __attribute__((visibility("default")))

MPSPROBE_OBSERVER_EXPORT void mpsprobe_observer_watch(void* device) {
  using namespace mpsprobe::observer;
  static std::once_flag once;
  std::call_once(once, [] {
    watch_classes();
    say_begin();
    std::atexit(say_end);
  });
  if (device != nullptr) see(static_cast<id>(device));
}

MPSPROBE_OBSERVER_EXPORT unsigned long long mpsprobe_observer_calls(void) {
  return mpsprobe::observer::calls_observed();
}

#ifdef __APPLE__

extern "C" id MTLCreateSystemDefaultDevice(void);

namespace {

id default_device() {
  const id device = MTLCreateSystemDefaultDevice();
  mpsprobe_observer_watch(device);
  return device;
}

// dyld puts the first in the place of the second in all images but this one.
struct Interposed {
  id (*ours)();
  id (*original)();
};
__attribute__((used, section("__DATA,__interpose")))
const Interposed kDevice = {default_device, MTLCreateSystemDefaultDevice};

}  // namespace

#else

// Found before the framework's own in a program that this library is preloaded into.
MPSPROBE_OBSERVER_EXPORT id MTLCreateSystemDefaultDevice(void) {
  static const auto original =
      reinterpret_cast<id (*)()>(dlsym(RTLD_NEXT, "MTLCreateSystemDefaultDevice"));
  const id device = original == nullptr ? nullptr : original();
  if (device != nullptr) mpsprobe_observer_watch(device);
  return device;
}

#endif
