// Mistakes in C++, each behind a macro of its own. Without one the program is sound.
#include <fcntl.h>
#include <sys/mman.h>

#include <sstream>

// A function from a library of Homebrew's, which other Macs have not.
#ifdef MPSPROBE_SPOILT_HOMEBREW
extern "C" int of_homebrew();
#else
static int of_homebrew() {
  return 0;
}
#endif

int main() {
  std::ostringstream text;
// Apple's libc++ of Xcode 15 has not what zig's newer one has.
#ifdef MPSPROBE_SPOILT_APPLE_LIBRARY
  text << text.view().size();
#endif
// Memory that only Linux gives.
#ifdef MPSPROBE_SPOILT_LINUX_CALL
  text << memfd_create("mpsprobe", 0);
#else
  text << shm_open("/mpsprobe", O_RDWR | O_CREAT, 0600);
#endif
  return of_homebrew();
}
