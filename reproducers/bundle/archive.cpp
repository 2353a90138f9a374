#include "reproducers/bundle/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace mpsprobe {
namespace {

struct Free {
  void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};
struct FreeWriter {
  void operator()(struct archive* archive) const { archive_write_free(archive); }
};
using ArchiveEntry = std::unique_ptr<struct archive_entry, Free>;
using Writer = std::unique_ptr<struct archive, FreeWriter>;

void check(int status, struct archive* archive, const char* what) {
  if (status >= ARCHIVE_WARN) return;
  const char* reason = archive_error_string(archive);
  throw ArchiveError(
      fmt::format("libarchive: {}: {}", what, reason == nullptr ? "no reason given" : reason));
}

la_ssize_t append(struct archive* /*archive*/, void* out, const void* bytes, size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

/// A regular file that tells nothing of who packed it. Without a time: ZIP has local ones.
ArchiveEntry plain_entry(const std::string& path, size_t size) {
  ArchiveEntry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), path.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_uid(entry.get(), 0);
  archive_entry_set_gid(entry.get(), 0);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  return entry;
}

void write_entry(struct archive* writer, struct archive_entry* entry, std::string_view bytes) {
  check(archive_write_header(writer, entry), writer, "a file's header");
  while (!bytes.empty()) {
    const la_ssize_t written = archive_write_data(writer, bytes.data(), bytes.size());
    if (written <= 0) check(ARCHIVE_FATAL, writer, "a file's bytes");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  check(archive_write_finish_entry(writer), writer, "a file's end");
}

void open_for_writing(struct archive* writer, std::string& out) {
  check(archive_write_set_bytes_per_block(writer, 0), writer, "no blocks");
  check(archive_write_open(writer, &out, nullptr, append, nullptr), writer, "begin");
}

}  // namespace

std::string sha256(std::string_view bytes) {
  std::string manifest;
  const Writer writer(archive_write_new());
  check(archive_write_set_format_mtree(writer.get()), writer.get(), "mtree");
  check(archive_write_set_options(writer.get(), "!all,sha256"), writer.get(), "SHA-256");
  open_for_writing(writer.get(), manifest);
  write_entry(writer.get(), plain_entry("x", bytes.size()).get(), bytes);
  check(archive_write_close(writer.get()), writer.get(), "end");
  constexpr std::string_view kKey = "sha256digest=";
  const size_t at = manifest.find(kKey);
  constexpr size_t kDigits = 64;
  if (at == std::string::npos || manifest.size() < at + kKey.size() + kDigits) {
    throw ArchiveError(
        "libarchive was built without SHA-256. Install one that has it, as Debian's and "
        "Homebrew's do");
  }
  return manifest.substr(at + kKey.size(), kDigits);
}

std::string zip_archive(std::string_view top, std::vector<BundleFile> files) {
  std::sort(files.begin(), files.end(),
            [](const BundleFile& a, const BundleFile& b) { return a.path < b.path; });
  std::string bytes;
  const Writer writer(archive_write_new());
  check(archive_write_set_format_zip(writer.get()), writer.get(), "ZIP");
  open_for_writing(writer.get(), bytes);
  for (const BundleFile& file : files) {
    const ArchiveEntry entry = plain_entry(fmt::format("{}/{}", top, file.path), file.bytes.size());
    write_entry(writer.get(), entry.get(), file.bytes);
  }
  check(archive_write_close(writer.get()), writer.get(), "end");
  return bytes;
}

}  // namespace mpsprobe
