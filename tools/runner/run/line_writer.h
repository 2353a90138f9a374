#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace mpsprobe {

/// Writes whole lines into a file or a pipe, and never waits for who reads it: what a slow reader
/// has not taken yet is kept, up to a bound. Not thread safe. SIGPIPE must be ignored.
class LineWriter {
 public:
  /// Opens `file`, made where there is none, to append. A pipe that nobody reads yet is opened when
  /// somebody does. Throws InputError (place `option` and the file) where that cannot be.
  LineWriter(const std::string& option, std::string file);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  ~LineWriter();

  /// Bytes that are kept for a reader.
  static constexpr size_t kMostKept = size_t{1} << 20;

  /// Takes a line that ends with a newline, or returns false: there is no room for it.
  bool write(const std::string& line);
  /// Waits for a reader who is there, at most so long. Returns how many lines were never taken
  /// whole.
  size_t finish(std::chrono::milliseconds longest);

  bool has_reader() const { return fd_ >= 0; }
  /// Why nothing can be written any more, in words; empty while it can.
  const std::string& broken() const { return broken_; }

 private:
  void open();
  void flush();

  std::string file_;
  std::string kept_;
  std::string broken_;
  int fd_ = -1;
};

}  // namespace mpsprobe
