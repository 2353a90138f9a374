// LD_PRELOAD: cublasLtDestroy does nothing, or (PASS=1) what it does, counted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int cublasLtDestroy(void* handle) {
  if (getenv("KEEP_HANDLES") != NULL) return 0;
  int (*real)(void*) = (int (*)(void*))dlsym(RTLD_NEXT, "cublasLtDestroy");
  if (real == NULL) { fprintf(stderr, "no cublasLtDestroy\n"); abort(); }
  return real(handle);
}
