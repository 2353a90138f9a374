#include "harness/signature/fragment_search.h"

namespace mpsprobe {

FragmentSearch::FragmentSearch(const std::vector<std::string_view>& fragments) {
  for (std::string_view fragment : fragments) {
    for (char c : fragment) {
      uint8_t& byte_class = class_of_[static_cast<unsigned char>(c)];
      if (byte_class == 0) byte_class = static_cast<uint8_t>(classes_++);
    }
  }
  const auto add_state = [&] {
    next_.resize(next_.size() + classes_, 0);
    fragment_.push_back(-1);
    return static_cast<uint32_t>(fragment_.size() - 1);
  };
  add_state();
  for (size_t index = 0; index < fragments.size(); ++index) {
    uint32_t state = 0;
    for (char c : fragments[index]) {
      const size_t slot = state * classes_ + class_of_[static_cast<unsigned char>(c)];
      if (next_[slot] == 0) {
        const uint32_t added = add_state();  // may move next_: no reference into it is kept
        next_[slot] = added;
      }
      state = next_[slot];
    }
    fragment_[state] = static_cast<int32_t>(index);
  }

  // Breadth first: the failure state of a state is shorter, so its row is complete already.
  std::vector<uint32_t> failure(fragment_.size(), 0);
  shorter_hit_.assign(fragment_.size(), 0);
  std::vector<uint32_t> queue;
  queue.reserve(fragment_.size());
  for (size_t c = 1; c < classes_; ++c) {
    if (next_[c] != 0) queue.push_back(next_[c]);
  }
  for (size_t head = 0; head < queue.size(); ++head) {
    const uint32_t state = queue[head];
    const uint32_t fallback = failure[state];
    shorter_hit_[state] = fragment_[fallback] >= 0 ? fallback : shorter_hit_[fallback];
    for (size_t c = 0; c < classes_; ++c) {
      uint32_t& target = next_[state * classes_ + c];
      const uint32_t other = next_[fallback * classes_ + c];
      if (target == 0) {
        target = other;
      } else {
        failure[target] = other;
        queue.push_back(target);
      }
    }
  }
}

}  // namespace mpsprobe
