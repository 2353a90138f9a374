#pragma once

#include <string>
#include <string_view>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// Keeps the beginning and the end of a stream of any length in bounded memory, counts the rest,
/// and picks out of it the lines that speak of a failure: a process may bury "failed assertion"
/// under a gigabyte of noise.
class CaptureBuffer {
 public:
  /// `bytes` is how much of the head, and again of the tail, is kept.
  explicit CaptureBuffer(size_t bytes) : limit_(bytes) {}

  void append(std::string_view chunk);
  Capture take();

 private:
  void notice(std::string_view chunk);

  size_t limit_;
  std::string head_;
  std::string tail_;  // up to twice the limit, cut from time to time
  uint64_t bytes_ = 0;
  std::string carry_;  // end of the last chunk, for words that straddle two
  std::vector<std::string> noticed_;
};

}  // namespace mpsprobe
