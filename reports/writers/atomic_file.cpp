#include "reports/writers/atomic_file.h"

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "harness/folder/folder.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {

ReportError cannot_write(const std::filesystem::path& file, const std::string& what, int error,
                         const std::string& again) {
  const std::string remedy =
      error == ENOSPC || error == EDQUOT ? "Free some space" : "Check the folder's permissions";
  return ReportError(printable(file.string()) + ": " + what + ": " +
                     std::generic_category().message(error) + ". " + remedy + "; " + again);
}

void write_atomically(const std::filesystem::path& file, std::string_view bytes,
                      const std::string& again) {
  write_atomically(
      file, [bytes](const Sink& sink) { sink(bytes); }, again);
}

void write_atomically(const std::filesystem::path& file,
                      const std::function<void(const Sink&)>& write, const std::string& again) {
  const Folder folder(file.parent_path());
  NewFile fresh(folder, file.filename().string());
  if (!fresh.is_open()) throw cannot_write(file, "cannot be created", errno, again);
  write([&](std::string_view bytes) {
    if (!fresh.write(bytes)) throw cannot_write(file, "cannot be written", errno, again);
  });
  if (!fresh.sync()) throw cannot_write(file, "cannot be written", errno, again);
  if (!fresh.replace()) throw cannot_write(file, "cannot be put in place", errno, again);
}

}  // namespace mpsprobe
