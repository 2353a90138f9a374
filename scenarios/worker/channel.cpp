#include "scenarios/worker/channel.h"

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/worker/leash.h"

namespace mpsprobe {

void Channel::send(const Event& event) {
  send_line(to_line(event) + "\n");
}

void Channel::send(const ResultEvent& result, std::string_view numbers) {
  nlohmann::json object = nlohmann::json::parse(to_line(result));
  if (!numbers.empty()) object["numbers"] = numbers;
  send_line(object.dump() + "\n");
}

void Channel::send_line(const std::string& line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = write(fd_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) _exit(kOrphaned);
    done += static_cast<size_t>(written);
  }
}

}  // namespace mpsprobe
