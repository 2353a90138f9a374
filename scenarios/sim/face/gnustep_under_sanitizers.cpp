// What sanitizers have to let pass in a program that uses GNUstep: it never frees what it makes at
// its start, and takes its locks there in changing order, with one thread alone. Linked into the
// program itself: a sanitizer does not look for these in a library. What the environment says wins.

extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();

const char* __asan_default_options() {
  return "detect_leaks=0";
}

const char* __tsan_default_options() {
  return "detect_deadlocks=0:atexit_sleep_ms=0";
}
