#include "harness/process/capture_buffer.h"

#include <string.h>  // memmem: of POSIX 2024, and so not of <cstring>

#include <algorithm>
#include <array>
#include <utility>

namespace mpsprobe {
namespace {

// What is worth keeping wherever it stands. All in one place with what the table of patterns knows
// would be better, were it not that this runs over every byte: few, plain, and found by memmem.
constexpr std::array<std::string_view, 4> kWords{"failed assertion", "exited with error status",
                                                 "Validation Enabled", "terminate called"};
constexpr size_t kContext = 400;
constexpr size_t kMostNoticed = 16;
constexpr size_t kLongestWord = 32;

}  // namespace

void CaptureBuffer::append(std::string_view chunk) {
  bytes_ += chunk.size();
  const size_t for_head = std::min(chunk.size(), limit_ - head_.size());
  head_.append(chunk.substr(0, for_head));
  chunk.remove_prefix(for_head);
  if (chunk.empty()) return;
  notice(chunk);
  if (chunk.size() >= limit_) {
    tail_.assign(chunk.substr(chunk.size() - limit_));
    return;
  }
  tail_.append(chunk);
  if (tail_.size() > 2 * limit_) tail_.erase(0, tail_.size() - limit_);
}

void CaptureBuffer::notice(std::string_view chunk) {
  if (noticed_.size() >= kMostNoticed) return;
  const std::string seam = carry_ + std::string(chunk.substr(0, kLongestWord));
  for (std::string_view where : {std::string_view(seam), chunk}) {
    for (std::string_view word : kWords) {
      const void* found = memmem(where.data(), where.size(), word.data(), word.size());
      if (found == nullptr || noticed_.size() >= kMostNoticed) continue;
      const auto at = static_cast<size_t>(static_cast<const char*>(found) - where.data());
      const size_t newline = where.rfind('\n', at);
      const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
      const size_t begin = std::max(line, at > kContext ? at - kContext : 0);
      std::string context(where.substr(begin, at - begin + kContext));
      if (noticed_.empty() || noticed_.back() != context) noticed_.push_back(std::move(context));
    }
  }
  carry_.assign(chunk.substr(chunk.size() - std::min(chunk.size(), kLongestWord)));
}

Capture CaptureBuffer::take() {
  if (tail_.size() > limit_) tail_.erase(0, tail_.size() - limit_);
  Capture capture;
  capture.head = std::move(head_);
  capture.tail = std::move(tail_);
  capture.bytes = bytes_;
  if (capture.dropped() > 0) capture.noticed = std::move(noticed_);
  return capture;
}

}  // namespace mpsprobe
