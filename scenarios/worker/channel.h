#pragma once

#include <mutex>

#include "harness/wire/event.h"

namespace mpsprobe {

/// The events channel, worker's side. Each event is one line, written whole; safe to use from
/// several threads. Not async-signal-safe. Where the runner has gone the process ends.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}
  void send(const Event& event);

 private:
  int fd_;
  std::mutex mutex_;
};

}  // namespace mpsprobe
