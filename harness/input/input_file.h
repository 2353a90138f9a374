#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>

namespace mpsprobe {

/// The bytes of a file that a person named, a pipe as well. Throws InputError, with the file as its
/// place and `remedy`, for a folder, for what cannot be read, and for more than `most` bytes, which
/// are never held: a device that never ends is refused in bounded time.
std::string read_input_file(const std::filesystem::path& file, size_t most,
                            const std::string& remedy);

/// As std::getline, but of a line of more than `most` bytes it reads only so much that `line` is
/// longer than that: what has no line's end is not held as a whole.
bool read_line(std::istream& stream, std::string& line, size_t most);

/// A file in the folder of a run, open to be read; not open where there is no plain file of that
/// name: to open a pipe would wait for who writes to it, and a link may lead out of the folder.
std::ifstream open_plain_file(const std::filesystem::path& file);

}  // namespace mpsprobe
