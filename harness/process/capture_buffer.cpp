#include "harness/process/capture_buffer.h"

#include <string.h>  // memmem: of POSIX 2024, and so not of <cstring>

#include <algorithm>
#include <array>
#include <utility>

namespace mpsprobe {
namespace {

// What is worth keeping wherever it stands. All in one place with what the table of patterns knows
// would be better, were it not that this runs over every byte: few, plain, and found by memmem.
constexpr std::array<std::string_view, 5> kWords{"failed assertion", "exited with error status",
                                                 "Validation Enabled", "terminate called",
                                                 "Exception in thread"};
constexpr size_t kContext = 400;
constexpr size_t kMostNoticed = 16;
constexpr size_t kLongestWord = 32;

}  // namespace

CaptureBuffer::CaptureBuffer(size_t bytes, std::vector<std::string> texts)
    : limit_(bytes), texts_(std::move(texts)), longest_(kLongestWord) {
  std::erase(texts_, "");
  for (const std::string& text : texts_) longest_ = std::max(longest_, text.size());
}

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

bool CaptureBuffer::notice(std::string_view where, size_t from, std::string_view word) {
  const void* found = memmem(where.data() + from, where.size() - from, word.data(), word.size());
  if (found == nullptr) return false;
  const auto at = static_cast<size_t>(static_cast<const char*>(found) - where.data());
  const size_t newline = where.rfind('\n', at);
  const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t begin = std::max(line, at > kContext ? at - kContext : 0);
  std::string context(where.substr(begin, at - begin + std::max(kContext, word.size())));
  if (noticed_.empty() || noticed_.back() != context) noticed_.push_back(std::move(context));
  return true;
}

void CaptureBuffer::notice(std::string_view chunk) {
  const std::string seam = carry_ + std::string(chunk.substr(0, longest_ + kContext));
  const auto look_for = [&](std::string_view word) {
    const size_t straddles = carry_.size() - std::min(carry_.size(), word.size() - 1);
    return notice(seam, straddles, word) || notice(chunk, 0, word);
  };
  for (std::string_view word : kWords) {
    if (noticed_.size() < kMostNoticed) look_for(word);
  }
  std::erase_if(texts_, look_for);
  carry_.append(chunk.substr(chunk.size() - std::min(chunk.size(), longest_ + kContext)));
  carry_.erase(0, carry_.size() - std::min(carry_.size(), longest_ + kContext));
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
