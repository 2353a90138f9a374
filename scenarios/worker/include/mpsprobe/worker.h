#pragma once
/**
 * The worker runtime as a C library, libmpsprobe_worker. Whatever program fills in struct
 * mpsprobe_worker and calls mpsprobe_worker_main is a worker of mpsprobe (docs/protocol.md). The
 * library does all that is not the operation itself: arguments, channels, the leash, the crash
 * handler, the inquest, phases, threads with their barriers and locks, forks, the flight recorder.
 * There is no order of calls to know: the library calls.
 *
 * Texts are UTF-8 and end with a zero byte. Those that a callback returns belong to the caller and
 * must stay as they are until the next call of the same callback.
 *
 * No callback may throw, nor jump out. None is called in a signal handler.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MPSPROBE_PUBLIC __attribute__((visibility("default")))
#else
#define MPSPROBE_PUBLIC
#endif

/** Version of this interface. A library refuses a worker of another one. */
#define MPSPROBE_WORKER_ABI 2

/**
 * What a callback came to. Anything but MPSPROBE_OK ends what the calling thread does, and is told
 * to the runner as a failure of that kind, with the text of the thread's last mpsprobe_explain.
 */
typedef enum mpsprobe_status {
  MPSPROBE_OK = 0,
  MPSPROBE_EXCEPTION = 1,     /**< the operation ended with an error of its own */
  MPSPROBE_WRONG_RESULT = 2,  /**< the operation itself saw that its result is wrong */
  MPSPROBE_GPU_ERROR = 3,     /**< the device reported an error for work that it had accepted */
  MPSPROBE_OUT_OF_MEMORY = 4, /**< of the host or of the device */
  MPSPROBE_UNSUPPORTED = 5,   /**< the cell cannot run here: counts as nothing */
  MPSPROBE_SETUP_FAILED = 6   /**< something outside the product is broken: counts as nothing */
} mpsprobe_status;

/** Sets the text of the failure that the calling thread is about to return. Copied. Any thread. */
MPSPROBE_PUBLIC void mpsprobe_explain(const char* text);

/**
 * Tells the runner at once of an exception of the main thread, in the phase that it is in, and goes
 * on: for one that comes from outside of any callback's work, as of a handler of a signal. Copied.
 * Without effect before the cell is known. Main thread.
 */
MPSPROBE_PUBLIC void mpsprobe_tell_exception(const char* text);

/** The cell of this process. Belongs to the library. */
typedef struct mpsprobe_cell mpsprobe_cell;

/**
 * The value of an axis as text ("4", "per-thread"), its default where the cell leaves it out. NULL
 * where there is no such axis. Valid, like the cell, until the process has ended. Main thread.
 */
MPSPROBE_PUBLIC const char* mpsprobe_cell_value(const mpsprobe_cell* cell, const char* axis);

/** What comparing the results of one thread with what is right came to. */
typedef struct mpsprobe_checked {
  uint64_t checked;        /**< results that were compared */
  uint64_t unchecked;      /**< results that were not kept */
  int32_t wrong_iteration; /**< first iteration with a wrong result; -1, as it is given: none. What
                                is wrong there is said by mpsprobe_explain */
} mpsprobe_checked;

/**
 * A worker. Callbacks that are marked optional may be NULL. `workload` and `lane` are what the
 * program made of them, and are only handed back.
 */
typedef struct mpsprobe_worker {
  uint32_t abi;  /**< MPSPROBE_WORKER_ABI */
  void* context; /**< handed to the callbacks of the program */

  /* Of the program; on the main thread. */

  /** Optional. In the process that runs a cell or answers `describe`, before any other callback,
   * and after a fork where the process was forked. */
  void (*begin)(void* context);
  /** The answer to `describe` as a JSON object (docs/protocol.md): operations, backends, version,
   * provenance. `axes` names what the lanes honour, of the worker, of a backend or of an operation;
   * the library adds the axes that it honours itself, `starts` and `variables`. NULL: it cannot be
   * told, for the reason that mpsprobe_explain gave. */
  const char* (*describe)(void* context);
  /** Which library is really loaded, as a JSON object: `provenance` of the hello event. */
  const char* (*provenance)(void* context, const char* cell_text);
  /** `seed` is of this process and iteration; numbers made from it are the same in all trials. */
  mpsprobe_status (*make_workload)(void* context, const mpsprobe_cell* cell, uint64_t seed,
                                   void** workload);

  /* Of the workload: what the threads of a process share. */

  /** Optional. First contact with the device, with init=main. Main thread, once. */
  mpsprobe_status (*touch_device)(void* workload);
  /** The belongings of one thread. On the main thread, or with init=threads on each thread at the
   * same time. */
  mpsprobe_status (*make_lane)(void* workload, int32_t thread, void** lane);
  /** Optional. Waits for everything that was prepared. Main thread, before the start. */
  mpsprobe_status (*settle)(void* workload);
  /** Optional; without it `beside` is no axis. Waits for the device while lanes launch, or on mps
   * does what else the cell's `beside` says, again and again, on a thread of its own. */
  mpsprobe_status (*wait_beside)(void* workload);
  /** Optional. "graph", "nograph", ..., or "not observed". Main thread. */
  const char* (*observed_path)(void* workload);
  /** Optional. */
  void (*free_workload)(void* workload);

  /* Of a lane: the work of one thread, used by one thread at a time. */

  /** Optional. What the lane executes, for the flight recorder; else the name of the operation. */
  const char* (*operation)(void* lane);
  /** Optional. On the thread that will launch, before the start. */
  mpsprobe_status (*enter)(void* lane);
  /** One iteration, up to the point where the call returns. */
  mpsprobe_status (*launch)(void* lane, int32_t iteration);
  /** Optional. Waits until the device has done what the lane launched. */
  mpsprobe_status (*synchronise)(void* lane);
  /** Optional. On the same thread after its last iteration, also where one failed. */
  void (*leave)(void* lane);
  /** Optional. Compares; on the main thread, after all threads have ended. */
  mpsprobe_status (*check)(void* lane, mpsprobe_checked* checked);
  /** Optional. */
  void (*free_lane)(void* lane);

  /* Threads of the host language, both or neither; NULL: those of the system, with which stack is
   * an axis. Who starts threads with the stack of the cell adds `stack` to the axes. */

  /** Starts a thread that calls body(argument) once, and notes in *thread what join_thread gets.
   * `slot` is the thread's number in the cell. Main thread. */
  mpsprobe_status (*start_thread)(void* context, int32_t slot, void (*body)(void* argument),
                                  void* argument, void** thread);
  /** Waits for the end of a thread. Called again where it returns before body has. Main thread. */
  void (*join_thread)(void* context, void* thread);
} mpsprobe_worker;

/**
 * The whole life of a worker: `describe`, or one process of one trial. `worker` must live until the
 * process has ended. Returns the exit code that main should return: 0 once everything that is to be
 * said has been said, 2 for wrong arguments, 3 where the channels are missing. What then happens
 * until the process has ended, such as an interpreter's end, is the phase `finalise`. Does not
 * return where the runner has gone away, or where end=exit leaves threads at work.
 */
MPSPROBE_PUBLIC int mpsprobe_worker_main(int argc, char** argv, const mpsprobe_worker* worker);

#ifdef __cplusplus
}
#endif
