#include "scenarios/worker/start_thread.h"

#include <memory>
#include <thread>
#include <utility>

namespace mpsprobe {

StartThread system_threads() {
  return [](uint32_t, std::function<void()> body) -> JoinThread {
    const std::shared_ptr<std::thread> thread(new std::thread(std::move(body)),
                                              [](std::thread* each) {
                                                if (each->joinable()) each->detach();
                                                delete each;
                                              });
    return [thread] { thread->join(); };
  };
}

}  // namespace mpsprobe
