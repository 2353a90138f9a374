#include "tools/runner/write_text.h"

#include <fmt/format.h>

#include <fstream>

#include "tools/runner/machine_error.h"

namespace mpsprobe {

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) {
    throw MachineError(
        fmt::format("{}: cannot be written. Free some space, and try again", file.string()));
  }
}

}  // namespace mpsprobe
