#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reproducers/bundle/redaction/personal.h"

namespace mpsprobe {

/// Personal data that are still there. Holds no such text itself: it goes into logs.
struct AuditHit {
  std::string file;   ///< relative to the folder
  size_t offset = 0;  ///< in the bytes of the file, or of what they were decoded to
  std::string what;   ///< "user name, in base64"
};

/// Looks through the bytes of a finished bundle for what must not be in them: every known personal
/// string, and the patterns of paths and telling keys. It knows nothing of the redactor and shares
/// no code with it. Each file is looked at as it is, with the escapes of JSON and of URLs undone,
/// without zero bytes (UTF-16), and with what may be base64 decoded. At most 64 hits.
std::vector<AuditHit> audit_folder(const std::filesystem::path& folder,
                                   std::span<const PersonalString> strings);

/// The same for one text, for `file`. Its name is looked at as well.
std::vector<AuditHit> audit_text(const std::string& file, std::string_view bytes,
                                 std::span<const PersonalString> strings);

}  // namespace mpsprobe
