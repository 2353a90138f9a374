#include "tools/runner/read/read_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/input/input_error.h"
#include "harness/process/spawn.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr size_t kLookedAt = 64 << 10;

[[noreturn]] void refuse_input(const std::string& place, const std::string& what,
                               const std::string& remedy) {
  throw InputError("read " + place, what, remedy);
}

bool is_text(std::string_view content) {
  content = content.substr(0, kLookedAt);
  const auto other = std::count_if(content.begin(), content.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b' && c != '\b' &&
           c != '\a' && c != '\f' && c != '\v';
  });
  // A crash leaves a stray byte in a log.
  constexpr ptrdiff_t kFew = 8;
  return other <= kFew;
}

}  // namespace

std::string first_bytes(const std::string& name) {
  constexpr std::streamsize kMostFirstBytes = 65536;
  std::error_code error;
  if (!std::filesystem::is_regular_file(name, error)) return "";
  std::string bytes(kMostFirstBytes, '\0');
  std::ifstream stream(name, std::ios::binary);
  stream.read(bytes.data(), kMostFirstBytes);
  bytes.resize(static_cast<size_t>(stream.gcount()));
  return bytes;
}

std::string read_input(const std::string& name) {
  const std::string place = name == "-" ? "-" : printable(name);
  Descriptor file;
  if (name != "-") {
    file = Descriptor(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) {
      refuse_input(place, std::strerror(errno),
                   "Name a file that can be read, or - for standard input");
    }
    struct stat status {};
    if (fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode)) {
      const bool folder = S_ISDIR(status.st_mode);
      refuse_input(place, folder ? "is a folder" : "is no file but a device or a pipe",
                   folder ? "Name a file in it; `mpsprobe show` prints what a run came to"
                          : "Name a file, or give its text on standard input: mpsprobe read -");
    }
  }
  const int number = name == "-" ? STDIN_FILENO : file.get();
  std::string content;
  char buffer[64 << 10];
  while (content.size() <= kMostInputBytes) {
    const size_t room = std::min(sizeof buffer, kMostInputBytes + 1 - content.size());
    if (room == 0) break;
    const ssize_t got = ::read(number, buffer, room);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_input(place, std::strerror(errno), "Name a file that can be read");
    if (got == 0) break;
    content.append(buffer, static_cast<size_t>(got));
    // What is no text need not be read to its end.
    if (!is_text(content)) break;
  }
  if (content.empty()) refuse_input(place, "is empty", "Give it what the process printed");
  if (!is_text(content)) {
    refuse_input(place, "is no text", "Give it a log, a crash report or a pasted issue as text");
  }
  if (content.size() > kMostInputBytes) {
    refuse_input(place, fmt::format("is larger than {} MiB", kMostInputBytes >> 20),
                 "Give it the part around the failure: tail -c 1M FILE | mpsprobe read -");
  }
  return content;
}

}  // namespace mpsprobe
