#include "scenarios/worker/leash.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/wire/event.h"

namespace mpsprobe {
namespace {

/// The cell itself has closed the gate. XNU then ends the read with 0, as if the runner had died;
/// Linux goes on with it.
bool closed_here(int gate) {
  return fcntl(gate, F_GETFD) < 0 && errno == EBADF;
}

}  // namespace

Leash::Leash(int gate_fd, std::function<void()> on_inquest) : gate_fd_(gate_fd) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot create a pipe for the leash");
  start_read_ = ends[0];
  start_write_ = ends[1];
  std::thread([gate = gate_fd_, start = start_write_, runner = getppid(),
               on_inquest = std::move(on_inquest)] {
    for (;;) {
      char byte = 0;
      const ssize_t got = read(gate, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        // Then a new parent is what tells that the runner died.
        while (closed_here(gate) && getppid() == runner) sleep(1);
        _exit(kOrphaned);
      }
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
