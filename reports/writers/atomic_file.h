#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mpsprobe {

/// A file could not be written. The message names it, the reason and what to do.
class ReportError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a message ends with where nothing else is said.
constexpr const char* kReportAgain =
    "the journal is untouched, and `mpsprobe report` writes the report again";

/// Replaces `file` by `bytes` in one step: whoever reads it, and a crash at any moment, sees the
/// old or the new content, whole. A temporary file beside it is renamed once it is on disk, and
/// removed where that fails, or by the next writer where a kill left it. A file that is there keeps
/// its permissions; a symbolic link is replaced itself, and not what it leads to. Throws
/// ReportError; `again` is what it tells of how to get the file all the same.
void write_atomically(const std::filesystem::path& file, std::string_view bytes,
                      const std::string& again = kReportAgain);

/// What takes the bytes of a file, piece after piece.
using Sink = std::function<void(std::string_view)>;

/// The same for bytes that `write` gives to a sink: they need not fit into memory.
void write_atomically(const std::filesystem::path& file,
                      const std::function<void(const Sink&)>& write,
                      const std::string& again = kReportAgain);

/// The ReportError that tells of `error`, an errno value: "FILE: WHAT: reason. Remedy; AGAIN".
ReportError cannot_write(const std::filesystem::path& file, const std::string& what, int error,
                         const std::string& again = kReportAgain);

}  // namespace mpsprobe
