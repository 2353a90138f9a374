// Spoilt: memory that only Linux gives.
#include <fcntl.h>
#include <sys/mman.h>

int main() {
#ifdef MPSPROBE_SPOILT
  return memfd_create("mpsprobe", 0) < 0;
#else
  return shm_open("/mpsprobe", O_RDWR | O_CREAT, 0600) < 0;
#endif
}
