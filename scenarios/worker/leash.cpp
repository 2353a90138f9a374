#include "scenarios/worker/leash.h"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <thread>

namespace mpsprobe {

Leash::Leash(int gate_fd) : gate_fd_(gate_fd) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot create a pipe for the leash");
  start_read_ = ends[0];
  start_write_ = ends[1];
  std::thread([gate = gate_fd_, start = start_write_] {
    for (;;) {
      char byte = 0;
      const ssize_t got = read(gate, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) _exit(kOrphaned);
      if (write(start, &byte, 1) != 1) _exit(kOrphaned);
    }
  }).detach();
}

void Leash::wait_for_start() {
  char byte = 0;
  while (read(start_read_, &byte, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace mpsprobe
