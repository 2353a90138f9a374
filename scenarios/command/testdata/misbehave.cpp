/* A plain program that misbehaves as its first argument says, and knows nothing of mpsprobe. Its
 * second argument is a number of threads, which it starts where the misbehaviour wants some. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static int* volatile nowhere;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int arrived;
static volatile int zero;

APART void read_nowhere(void) {
  zero = *nowhere;
}
APART void give_up(void) {
  abort();
}
APART void divide(void) {
  zero = 7 / zero;
}
APART void trap_here(void) {
  __builtin_trap();
}
APART int recurse(int depth) {
  if (depth < 0) return 0;
  volatile char room[4096];
  room[0] = (char)depth;
  return recurse(depth + 1) + room[0];
}
APART void free_twice(void) {
  char* volatile memory = (char*)malloc(40);
  free(memory);
  free(memory);
}

static void* crash_in_thread(void* unused) {
  read_nowhere();
  return unused;
}
static void meet(void) {  // macOS has no barriers
  __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < 2) sched_yield();
}
APART void lock_second(void) {
  pthread_mutex_lock(&second);
}
APART void lock_first(void) {
  pthread_mutex_lock(&first);
}
static void* first_then_second(void* unused) {
  pthread_mutex_lock(&first);
  meet();
  lock_second();
  return unused;
}
static void* second_then_first(void* unused) {
  pthread_mutex_lock(&second);
  meet();
  lock_first();
  return unused;
}
APART void wait_for_nobody(void) {
  pthread_mutex_lock(&first);
  pthread_cond_wait(&never, &first);
}
APART void deadlock(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, first_then_second, nullptr);
  pthread_create(&threads[1], nullptr, second_then_first, nullptr);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], nullptr);
}
static void* add_up(void* total) {
  for (int i = 0; i < 1000; ++i) __atomic_add_fetch((long*)total, 1, __ATOMIC_RELAXED);
  return nullptr;
}

static void catch_signal(int) {
  static const char words[] = "misbehave: the signal was caught\n";
  if (write(STDERR_FILENO, words, sizeof words - 1) > 0) _exit(3);
}

static int end_of_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 7 : 0;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  const int threads = argc > 2 ? atoi(argv[2]) : 1;
  const int is_child = argc > 3;
  if (strcmp(how, "segv") == 0) read_nowhere();
  if (strcmp(how, "abort") == 0) give_up();
  if (strcmp(how, "divide") == 0) divide();
  if (strcmp(how, "trap") == 0) trap_here();
  if (strcmp(how, "overflow") == 0) return recurse(0);
  if (strcmp(how, "free") == 0) free_twice();
  if (strcmp(how, "exit") == 0) return 9;
  if (strcmp(how, "says") == 0) {
    fprintf(stderr, "misbehave: the device is gone\n");
    return 1;
  }
  if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, nullptr, crash_in_thread, nullptr);
    pthread_join(thread, nullptr);
  }
  if (strcmp(how, "wait") == 0) wait_for_nobody();
  if (strcmp(how, "deadlock") == 0) deadlock();
  if (strcmp(how, "spin") == 0)
    for (;;) zero = 0;
  if (strcmp(how, "killed") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "forked") == 0) {
    const pid_t child = fork();
    if (child == 0) read_nowhere();
    return end_of_child(child);
  }
  if (strcmp(how, "started") == 0) {
    if (is_child) give_up();
    const pid_t child = fork();
    if (child == 0) execl(argv[0], argv[0], "started", "1", "child", (char*)nullptr);
    return end_of_child(child);
  }
  if (strcmp(how, "child_hangs") == 0) {
    const pid_t child = fork();
    if (child == 0) wait_for_nobody();
    return end_of_child(child);
  }
  if (strcmp(how, "from_two") == 0 && threads > 1) read_nowhere();
  if (strcmp(how, "catches") == 0) {
    signal(SIGSEGV, catch_signal);
    read_nowhere();
  }
  if (strcmp(how, "handled") == 0) {
    signal(SIGSEGV, SIG_DFL);
    read_nowhere();
  }
  long total = 0;
  pthread_t all[64];
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], nullptr, add_up, &total);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], nullptr);
  if (strcmp(how, "wrong") == 0 && threads > 1) total += 1000;
  printf("%ld of %s\n", total / threads, getenv("batch") == nullptr ? "nothing" : getenv("batch"));
  return 0;
}
