#include "scenarios/worker/channel.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "scenarios/worker/leash.h"

namespace mpsprobe {

void Channel::send(const Event& event) {
  const std::string line = to_line(event) + "\n";
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = write(fd_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) _exit(kOrphaned);
    done += static_cast<size_t>(written);
  }
}

}  // namespace mpsprobe
