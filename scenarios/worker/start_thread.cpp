#include "scenarios/worker/start_thread.h"

#include <pthread.h>

#include <memory>
#include <system_error>
#include <utility>

namespace mpsprobe {
namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

class Attributes {
 public:
  Attributes() { check(pthread_attr_init(&attributes_), "pthread_attr_init"); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { pthread_attr_destroy(&attributes_); }
  pthread_attr_t* get() { return &attributes_; }

 private:
  pthread_attr_t attributes_{};
};

void* run_body(void* given) noexcept {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(given));
  (*body)();
  return nullptr;
}

/// Left to itself where nobody joins it. std::thread knows no size of a stack.
class Thread {
 public:
  Thread(std::function<void()> body, size_t stack) {
    Attributes attributes;
    if (stack > 0)
      check(pthread_attr_setstacksize(attributes.get(), stack), "the size of its stack");
    auto own = std::make_unique<std::function<void()>>(std::move(body));
    check(pthread_create(&thread_, attributes.get(), run_body, own.get()), "pthread_create");
    [[maybe_unused]] const auto* const freed_by_the_thread = own.release();
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() {
    if (!joined_) pthread_detach(thread_);
  }
  void join() {
    joined_ = true;
    check(pthread_join(thread_, nullptr), "pthread_join");
  }

 private:
  pthread_t thread_{};
  bool joined_ = false;
};

}  // namespace

StartThread system_threads(size_t stack) {
  return [stack](uint32_t, std::function<void()> body) -> JoinThread {
    const auto thread = std::make_shared<Thread>(std::move(body), stack);
    return [thread] { thread->join(); };
  };
}

size_t default_thread_stack() {
  Attributes attributes;
  size_t bytes = 0;
  return pthread_attr_getstacksize(attributes.get(), &bytes) == 0 ? bytes : 0;
}

}  // namespace mpsprobe
