// What orders threads and can be seen: that one is started and joined, and locks. In a program that
// this library is inserted into, these functions come before the system's own.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>

#ifdef __APPLE__
#include <os/lock.h>
#endif

#include "scenarios/observer/classes.h"
#include "scenarios/observer/clocks.h"
#include "scenarios/observer/interpose.h"
#include "scenarios/observer/objects.h"

namespace mpsprobe::observer {
namespace {

/// The calling thread where it makes the call for itself: what a framework, or this library, locks
/// inside a method orders nothing for the program.
Thread* outside() {
  Thread* const me = noted_thread();
  return me == nullptr || me->depth > 0 ? nullptr : me;
}

void let_go(const void* what) {
  if (Thread* const me = outside()) released(*me, what);
}

int took(int error, const void* what) {
  if (Thread* const me = error == 0 ? outside() : nullptr) acquired(*me, what);
  return error;
}

struct Started {
  void* (*routine)(void*);
  void* argument;
  Clock parent;
};

void* run_started(void* given) {
  const Started started = *static_cast<Started*>(given);
  delete static_cast<Started*>(given);
  start_thread(started.parent);
  return started.routine(started.argument);
}

int create(decltype(&pthread_create) original, pthread_t* thread, const pthread_attr_t* attributes,
           void* (*routine)(void*), void* argument) {
  if (!is_watching()) return original(thread, attributes, routine, argument);
  Thread& me = this_thread();
  auto* const started = new Started{routine, argument, me.clock};  // the thread's, which frees it
  begin_time(me, &started->parent);
  const int error = original(thread, attributes, run_started, started);
  if (error != 0) delete started;
  return error;
}

/// While it waits the mutex is another's.
template <typename Wait>
int wait(pthread_mutex_t* mutex, const Wait& original) {
  let_go(mutex);
  const int error = original();
  if (Thread* const me = outside()) acquired(*me, mutex);
  return error;
}

}  // namespace
}  // namespace mpsprobe::observer

using namespace mpsprobe::observer;

#ifdef __APPLE__

namespace {

int our_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
               void* argument) {
  return create(pthread_create, thread, attributes, routine, argument);
}
int our_join(pthread_t thread, void** result) {
  return took(pthread_join(thread, result), thread);
}
int our_lock(pthread_mutex_t* mutex) {
  return took(pthread_mutex_lock(mutex), mutex);
}
int our_trylock(pthread_mutex_t* mutex) {
  return took(pthread_mutex_trylock(mutex), mutex);
}
int our_unlock(pthread_mutex_t* mutex) {
  let_go(mutex);
  return pthread_mutex_unlock(mutex);
}
int our_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait(mutex, [&] { return pthread_cond_wait(condition, mutex); });
}
void our_unfair_lock(os_unfair_lock_t lock) noexcept {
  os_unfair_lock_lock(lock);
  took(0, lock);
}
void our_unfair_unlock(os_unfair_lock_t lock) noexcept {
  let_go(lock);
  os_unfair_lock_unlock(lock);
}

MPSPROBE_INTERPOSE(kCreate, our_create, pthread_create);
MPSPROBE_INTERPOSE(kJoin, our_join, pthread_join);
MPSPROBE_INTERPOSE(kLock, our_lock, pthread_mutex_lock);
MPSPROBE_INTERPOSE(kTrylock, our_trylock, pthread_mutex_trylock);
MPSPROBE_INTERPOSE(kUnlock, our_unlock, pthread_mutex_unlock);
MPSPROBE_INTERPOSE(kWait, our_wait, pthread_cond_wait);
MPSPROBE_INTERPOSE(kUnfairLock, our_unfair_lock, os_unfair_lock_lock);
MPSPROBE_INTERPOSE(kUnfairUnlock, our_unfair_unlock, os_unfair_lock_unlock);

}  // namespace

#else

#define MPSPROBE_OBSERVER_BEFORE extern "C" __attribute__((visibility("default")))

namespace {

/// The system's own. `known` without a guard: the first calls come before anything is set up.
template <typename F>
F original(F& known, const char* name) {
  if (known == nullptr) {
    // Of condition variables there are two kinds, and the later is meant.
    void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (found == nullptr) found = dlsym(RTLD_NEXT, name);
    known = reinterpret_cast<F>(found);
  }
  return known;
}

}  // namespace

MPSPROBE_OBSERVER_BEFORE int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                            void* (*routine)(void*), void* argument) noexcept {
  static decltype(&pthread_create) known;
  return create(original(known, "pthread_create"), thread, attributes, routine, argument);
}
MPSPROBE_OBSERVER_BEFORE int pthread_join(pthread_t thread, void** result) {
  static decltype(&pthread_join) known;
  return took(original(known, "pthread_join")(thread, result), pointer(thread));
}
MPSPROBE_OBSERVER_BEFORE int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static decltype(&pthread_mutex_lock) known;
  return took(original(known, "pthread_mutex_lock")(mutex), mutex);
}
MPSPROBE_OBSERVER_BEFORE int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static decltype(&pthread_mutex_trylock) known;
  return took(original(known, "pthread_mutex_trylock")(mutex), mutex);
}
MPSPROBE_OBSERVER_BEFORE int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static decltype(&pthread_mutex_unlock) known;
  let_go(mutex);
  return original(known, "pthread_mutex_unlock")(mutex);
}
MPSPROBE_OBSERVER_BEFORE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static decltype(&pthread_cond_wait) known;
  return wait(mutex, [&] { return original(known, "pthread_cond_wait")(condition, mutex); });
}
MPSPROBE_OBSERVER_BEFORE int pthread_cond_timedwait(pthread_cond_t* condition,
                                                    pthread_mutex_t* mutex, const timespec* until) {
  static decltype(&pthread_cond_timedwait) known;
  return wait(mutex,
              [&] { return original(known, "pthread_cond_timedwait")(condition, mutex, until); });
}

#endif
