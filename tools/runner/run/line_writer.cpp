#include "tools/runner/run/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

/// Whether a write would not wait. A descriptor that another process shares may be blocking,
/// whatever was asked for when it was opened.
bool takes_more(int fd, int milliseconds) {
  pollfd wanted{fd, POLLOUT, 0};
  return ::poll(&wanted, 1, milliseconds) == 1;
}

}  // namespace

LineWriter::LineWriter(const std::string& option, std::string file) : file_(std::move(file)) {
  open();
  if (broken_.empty()) return;
  throw InputError(option + " " + printable(file_), "cannot be opened: " + broken_,
                   "Name a file that can be written");
}

LineWriter::~LineWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void LineWriter::open() {
  fd_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
               0666);
  // ENXIO: a pipe that nobody reads yet.
  if (fd_ < 0 && errno != ENXIO) broken_ = std::strerror(errno);
}

void LineWriter::flush() {
  if (fd_ < 0 && broken_.empty()) open();
  while (fd_ >= 0 && broken_.empty() && !kept_.empty() && takes_more(fd_, 0)) {
    // poll promises room for so many bytes and no more, which counts where the descriptor blocks.
    const ssize_t count =
        ::write(fd_, kept_.data(), std::min(kept_.size(), static_cast<size_t>(PIPE_BUF)));
    if (count >= 0) {
      kept_.erase(0, static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      broken_ = std::strerror(errno);
    }
  }
}

bool LineWriter::write(const std::string& line) {
  flush();
  if (!broken_.empty() || kept_.size() + line.size() > kMostKept) return false;
  kept_ += line;
  flush();
  return broken_.empty();
}

size_t LineWriter::finish(std::chrono::milliseconds longest) {
  const auto until = std::chrono::steady_clock::now() + longest;
  flush();
  while (fd_ >= 0 && broken_.empty() && !kept_.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !takes_more(fd_, static_cast<int>(left.count()))) break;
    flush();
  }
  return static_cast<size_t>(std::count(kept_.begin(), kept_.end(), '\n'));
}

}  // namespace mpsprobe
