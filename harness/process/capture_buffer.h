#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// Keeps the beginning and the end of a stream of any length in bounded memory, counts the rest,
/// and picks out of it the lines that speak of a failure: a process may bury "failed assertion"
/// under a gigabyte of noise.
class CaptureBuffer {
 public:
  /// `bytes` is how much of the head, and again of the tail, is kept. `texts`: somebody asks for
  /// them; of each the first line that has it is picked out as well.
  explicit CaptureBuffer(size_t bytes, std::vector<std::string> texts = {});

  void append(std::string_view chunk);
  Capture take();

 private:
  void notice(std::string_view chunk);
  bool notice(std::string_view where, size_t from, std::string_view word);

  size_t limit_;
  std::vector<std::string> texts_;  // those that were not there yet
  size_t longest_;                  // of all that is looked for
  std::string head_;
  std::string tail_;  // up to twice the limit, cut from time to time
  uint64_t bytes_ = 0;
  std::string carry_;  // what came last, for words that straddle two chunks
  std::vector<std::string> noticed_;
};

}  // namespace mpsprobe
