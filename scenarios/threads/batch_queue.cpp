#include "scenarios/threads/batch_queue.h"

#include <utility>

namespace mpsprobe {

bool BatchQueue::ask(const Request& request) {
  std::unique_lock<std::mutex> lock(mutex_);
  waiting_.push_back(request);
  asked_.notify_one();
  answered_.wait(lock, [&] { return answers_[request.client] != Answer::none; });
  return std::exchange(answers_[request.client], Answer::none) == Answer::done;
}

void BatchQueue::leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --clients_;
  asked_.notify_one();
}

std::vector<BatchQueue::Request> BatchQueue::take() {
  std::unique_lock<std::mutex> lock(mutex_);
  asked_.wait(lock, [&] { return !waiting_.empty() || clients_ == 0; });
  return std::exchange(waiting_, {});
}

void BatchQueue::answer(const Request& request, bool done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  answers_[request.client] = done ? Answer::done : Answer::failed;
  answered_.notify_all();
}

}  // namespace mpsprobe
