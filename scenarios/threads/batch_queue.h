#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace mpsprobe {

/// Where clients ask for iterations and one server does them, all that wait at a time being one
/// batch. A client has one request at most, as somebody has who waits for an answer. Clients: any
/// thread; the server: one thread.
class BatchQueue {
 public:
  struct Request {
    uint32_t client = 0;
    int iteration = 0;
  };

  explicit BatchQueue(int clients) : answers_(static_cast<size_t>(clients)), clients_(clients) {}

  /// Returns when the server has answered: whether it could do it.
  bool ask(const Request& request);
  /// The calling client asks no more, or one that never came.
  void leave();

  /// All that were asked for and not taken yet, in the order in which they came; waits for the
  /// first. Empty: all clients have left.
  std::vector<Request> take();
  void answer(const Request& request, bool done);

 private:
  enum class Answer : uint8_t { none, done, failed };

  std::mutex mutex_;
  std::condition_variable asked_;
  std::condition_variable answered_;
  std::vector<Request> waiting_;
  std::vector<Answer> answers_;
  int clients_;
};

}  // namespace mpsprobe
