#include "scenarios/worker/observation.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <utility>

#include "harness/provenance/executable.h"
#include "scenarios/evidence/thread_identity.h"
#include "scenarios/observer/observe.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr const char* kLibrary = "libmpsprobe_observer.dylib";
#else
constexpr const char* kLibrary = "libmpsprobe_observer.so";
#endif

struct Observing {
  FlightRecorder recorder;
  TellObserved tell;
  decltype(&mpsprobe_observer_calls) calls = nullptr;
};
Observing* observing = nullptr;  // written once, by the main thread, before a finding can come

/// Beside the library that this is a part of, or where the program's libraries are.
fs::path find_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&find_library), &info) != 0) {
    const fs::path beside = fs::path(info.dli_fname).parent_path() / kLibrary;
    if (std::error_code error; fs::exists(beside, error)) return beside;
  }
  return installation_folder() / "lib" / kLibrary;
}

template <typename F>
F function(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr)
    throw SetupError(std::string(kLibrary) + ": " + name + " is missing: build it again");
  return reinterpret_cast<F>(found);
}

void take_finding(int proof, const char* words, void*) {
  if (proof == 0) {
    observing->tell(ObservedEvent{observing->calls(), words});
    return;
  }
  FailureEvent failure;
  failure.kind = "misuse";
  failure.text = words;
  failure.phase = name_of(observing->recorder.phase());
  const uint32_t slot = slot_of_thread(thread_id());
  if (slot < recorder_layout::kMainThread) failure.thread = static_cast<int>(slot);
  observing->tell(failure);
}

}  // namespace

void begin_observation(const Cell& cell, const FlightRecorder& recorder, TellObserved tell) {
  if (cell.observe == Observe::none || observing != nullptr) return;
  const fs::path path = find_library();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw SetupError(std::string("observe: ") + dlerror() +
                     ". The observer is built with the backend metal: run cmake again and read "
                     "what it says of it");
  }
  observing = new Observing{recorder, std::move(tell)};
  observing->calls =
      function<decltype(&mpsprobe_observer_calls)>(library, "mpsprobe_observer_calls");
  function<decltype(&mpsprobe_observer_tell)>(library, "mpsprobe_observer_tell")(take_finding,
                                                                                 nullptr);
  if (cell.observe == Observe::trap)
    function<decltype(&mpsprobe_observer_trap)>(library, "mpsprobe_observer_trap")();
  if (function<decltype(&mpsprobe_observer_begin)>(library, "mpsprobe_observer_begin")() == 0) {
    throw UnsupportedError(
        "observe: there is no object of Metal here to watch. Use the backend metal or mps of the "
        "C++ workers, or a Mac");
  }
  tell_observed_calls();
}

void tell_observed_calls() {
  if (observing != nullptr) observing->tell(ObservedEvent{observing->calls(), ""});
}

}  // namespace mpsprobe
