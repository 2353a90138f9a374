#include "tools/runner/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "tools/runner/say.h"

namespace mpsprobe {

bool is_screen(int fd) {
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

bool wants_colour(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_screen(fd) && (no_colour == nullptr || *no_colour == '\0');
}

void rewrite_line(std::string_view line) {
  if (!is_screen(STDERR_FILENO)) return;
  say(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
}

size_t screen_width(int fd) {
  constexpr size_t kUsual = 80;
  constexpr size_t kLeast = 40;
  if (isatty(fd) != 1) return 0;
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeast ? size.ws_col : kUsual;
}

}  // namespace mpsprobe
