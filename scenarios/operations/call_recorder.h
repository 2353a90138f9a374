#pragma once

#include <ATen/record_function.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace mpsprobe {

/// For tests: records the outermost ATen calls of the thread that made it, in order, as an observer
/// sees them; what they call inside is left out.
class CallRecorder {
 public:
  CallRecorder() {
    calls_of_thread() = &calls_;
    depth_of_thread() = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
              if (depth_of_thread()++ == 0) {
                calls_of_thread()->emplace_back(function.name());
              }
              return nullptr;
            },
            [](const at::RecordFunction&, at::ObserverContext*) { --depth_of_thread(); })
            .scopes({at::RecordScope::FUNCTION}));
  }
  ~CallRecorder() { at::removeCallback(handle_); }
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;

  const std::vector<std::string>& calls() const { return calls_; }

 private:
  static std::vector<std::string>*& calls_of_thread() {
    thread_local std::vector<std::string>* calls = nullptr;
    return calls;
  }
  static int& depth_of_thread() {
    thread_local int depth = 0;
    return depth;
  }

  std::vector<std::string> calls_;
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
};

}  // namespace mpsprobe
