#include "harness/input/input_file.h"

#include <cerrno>
#include <cstring>

#include "harness/input/input_error.h"

namespace mpsprobe {

std::string read_input_file(const std::filesystem::path& file, size_t most,
                            const std::string& remedy) {
  const auto refuse = [&](const std::string& problem) {
    throw InputError(file.string(), problem, remedy);
  };
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) refuse("is a folder and no file");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(std::string("cannot be read: ") + std::strerror(errno));
  std::string bytes;
  char buffer[65536];
  while (stream.read(buffer, sizeof buffer), stream.gcount() > 0) {
    bytes.append(buffer, static_cast<size_t>(stream.gcount()));
    if (bytes.size() > most) refuse("is over " + std::to_string(most) + " bytes");
  }
  if (!stream.eof()) refuse(std::string("cannot be read: ") + std::strerror(errno));
  return bytes;
}

bool read_line(std::istream& stream, std::string& line, size_t most) {
  line.clear();
  char piece[65536];
  while (line.size() <= most) {
    stream.getline(piece, sizeof piece);
    const auto got = static_cast<size_t>(stream.gcount());
    const bool whole = stream.good();  // the line's end was counted as well
    line.append(piece, got - (whole ? 1 : 0));
    if (whole || stream.eof()) return whole || !line.empty();
    if (stream.bad() || got == 0) return false;
    stream.clear();  // the piece was full
  }
  return true;
}

std::ifstream open_plain_file(const std::filesystem::path& file) {
  std::error_code error;
  if (!is_regular_file(std::filesystem::symlink_status(file, error))) return {};
  return std::ifstream(file, std::ios::binary);
}

}  // namespace mpsprobe
