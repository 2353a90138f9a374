#pragma once

#include <functional>

namespace mpsprobe {

/// Exit code of a worker whose runner has gone away.
constexpr int kOrphaned = 77;

/// Watches the gate: the runner writes one byte to start the run and keeps its end open until the
/// worker has ended. So end of file means that the runner died, also by SIGKILL, and the worker
/// ends at once instead of staying behind with the device. A cell that closes the gate itself keeps
/// running; the worker then ends within a second after the runner.
class Leash {
 public:
  /// Starts watching `gate_fd` on a thread of its own, which lives as long as the process.
  /// `on_inquest` is called on it when the runner asks for an inquest.
  Leash(int gate_fd, std::function<void()> on_inquest);

  /// Blocks until the runner opens the gate.
  void wait_for_start();

 private:
  int gate_fd_;
  int start_read_ = -1;
  int start_write_ = -1;
};

}  // namespace mpsprobe
