#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "harness/wire/event.h"

namespace mpsprobe {

/// The events channel, worker's side. Each event is one line, written whole; safe to use from
/// several threads. Not async-signal-safe. Where the runner has gone the process ends.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}
  void send(const Event& event);
  /// A result with the key `numbers` (docs/protocol.md), which no trial is judged by.
  void send(const ResultEvent& result, std::string_view numbers);

 private:
  void send_line(const std::string& line);

  int fd_;
  std::mutex mutex_;
};

}  // namespace mpsprobe
