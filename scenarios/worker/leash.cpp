#include "scenarios/worker/leash.h"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/wire/event.h"

namespace mpsprobe {

Leash::Leash(int gate_fd, std::function<void()> on_inquest) : gate_fd_(gate_fd) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot create a pipe for the leash");
  start_read_ = ends[0];
  start_write_ = ends[1];
  std::thread([gate = gate_fd_, start = start_write_, on_inquest = std::move(on_inquest)] {
    for (;;) {
      char byte = 0;
      const ssize_t got = read(gate, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) _exit(kOrphaned);
      if (byte == kInquestByte) {
        on_inquest();
      } else if (write(start, &byte, 1) != 1) {
        _exit(kOrphaned);
      }
    }
  }).detach();
}

void Leash::wait_for_start() {
  char byte = 0;
  while (read(start_read_, &byte, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace mpsprobe
