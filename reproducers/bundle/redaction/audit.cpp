#include "reproducers/bundle/redaction/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostHits = 64;
constexpr size_t kShortestBase64 = 8;

struct View {
  std::string_view name;  ///< "", "in base64"
  std::string bytes;      ///< in lower case
};

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The number that `digits` hexadecimal digits spell, -1: they do not.
int hex_number(std::string_view text, size_t at, size_t digits) {
  if (at + digits > text.size()) return -1;
  int number = 0;
  for (size_t i = 0; i < digits; ++i) {
    const int value = hex_value(text[at + i]);
    if (value < 0) return -1;
    number = number * 16 + value;
  }
  return number;
}

std::string without_json_escapes(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char next = text[i + 1];
    const int code = next == 'u'   ? hex_number(text, i + 2, 4)
                     : next == 'x' ? hex_number(text, i + 2, 2)
                                   : -1;
    if (code >= 0) {
      if (code < 0x80) {
        result += static_cast<char>(code);
      } else if (code < 0x800) {
        result += static_cast<char>(0xC0 | (code >> 6));
        result += static_cast<char>(0x80 | (code & 0x3F));
      } else {
        result += static_cast<char>(0xE0 | (code >> 12));
        result += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        result += static_cast<char>(0x80 | (code & 0x3F));
      }
      i += next == 'u' ? 5 : 3;
    } else {
      result += next == 'n' || next == 't' || next == 'r' ? ' ' : next;
      ++i;
    }
  }
  return result;
}

std::string without_percent_escapes(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const int code = text[i] == '%' ? hex_number(text, i + 1, 2) : -1;
    result += code < 0 ? text[i] : static_cast<char>(code);
    if (code >= 0) i += 2;
  }
  return result;
}

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

/// What every run of its letters may have been, at each of the four places that it can begin.
std::string decoded_base64(std::string_view text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && base64_value(text[end]) >= 0) ++end;
    if (end - begin >= kShortestBase64) {
      for (size_t shift = 0; shift < 4; ++shift) {
        uint32_t bits = 0;
        int count = 0;
        for (size_t i = begin + shift; i < end; ++i) {
          bits = bits << 6 | static_cast<uint32_t>(base64_value(text[i]));
          count += 6;
          if (count < 8) continue;
          count -= 8;
          result += static_cast<char>(bits >> count & 0xFF);
        }
        result += '\n';
      }
    }
    begin = end + 1;
  }
  return result;
}

std::string lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool beside_word(std::string_view bytes, size_t begin, size_t end) {
  const auto in_word = [&](size_t at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    return byte >= 0x80 || std::isalnum(byte) != 0;
  };
  return (begin > 0 && in_word(begin - 1)) || (end < bytes.size() && in_word(end));
}

/// A word, then what only a personal value follows with.
struct AuditedForm {
  std::string_view word;
  std::string_view what;
};
constexpr std::array<AuditedForm, 4> kPaths{{{"/users/", "path of a home folder"},
                                             {"/home/", "path of a home folder"},
                                             {"/volumes/", "path of a volume"},
                                             {"var/folders/", "path of a temporary folder"}}};
constexpr std::array<AuditedForm, 9> kReportKeys{{{"crashreporterkey", "crashReporterKey"},
                                                  {"crashreporter key", "crashReporterKey"},
                                                  {"userid", "userID"},
                                                  {"bootsessionuuid", "bootSessionUUID"},
                                                  {"incident_id", "incident_id"},
                                                  {"incident identifier", "incident_id"},
                                                  {"sleepwakeuuid", "sleepWakeUUID"},
                                                  {"sleep/wake uuid", "sleepWakeUUID"},
                                                  {"serialnumber", "serial number"}}};

class Audit {
 public:
  Audit(std::string file, std::span<const PersonalString> strings, std::vector<AuditHit>& hits)
      : file_(std::move(file)), strings_(strings), hits_(hits) {}

  void look(std::string_view bytes) {
    strings_in({"", lowered(std::string(bytes))}, true);
    strings_in({"as an escape of JSON", lowered(without_json_escapes(bytes))}, true);
    strings_in({"as an escape of a URL", lowered(without_percent_escapes(bytes))}, true);
    std::string narrow(bytes);
    narrow.erase(std::remove(narrow.begin(), narrow.end(), '\0'), narrow.end());
    if (narrow.size() < bytes.size()) strings_in({"in UTF-16", lowered(narrow)}, true);
    // What was no base64 decodes to chance: only long strings mean something in it.
    strings_in({"in base64", lowered(decoded_base64(bytes))}, false);
  }

 private:
  void hit(const View& view, size_t offset, std::string_view what) {
    if (hits_.size() >= kMostHits) return;
    hits_.push_back(
        {file_, offset,
         view.name.empty() ? std::string(what) : fmt::format("{}, {}", what, view.name)});
  }

  void strings_in(const View& view, bool text) {
    const std::string_view bytes = view.bytes;
    for (const PersonalString& known : strings_) {
      if (!text && known.whole_word) continue;
      for (size_t at = bytes.find(known.text); at != std::string_view::npos;
           at = bytes.find(known.text, at + 1)) {
        if (known.whole_word && beside_word(bytes, at, at + known.text.size())) continue;
        hit(view, at, name_of(known.kind));
        break;  // one a file and string is enough to refuse it
      }
    }
    if (text) patterns_in(view);
  }

  void patterns_in(const View& view) {
    const std::string_view bytes = view.bytes;
    for (const AuditedForm& path : kPaths) {
      for (size_t at = bytes.find(path.word); at != std::string_view::npos;
           at = bytes.find(path.word, at + 1)) {
        const std::string_view rest = bytes.substr(at + path.word.size());
        if (rest.empty() || rest.starts_with("shared")) continue;
        const auto first = static_cast<unsigned char>(rest.front());
        if (std::isalnum(first) != 0 || first == '_' || first >= 0x80) {
          hit(view, at, path.what);
          break;
        }
      }
    }
    for (const AuditedForm& key : kReportKeys) {
      for (size_t at = bytes.find(key.word); at != std::string_view::npos;
           at = bytes.find(key.word, at + 1)) {
        if (has_value(bytes.substr(at + key.word.size()))) {
          hit(view, at, key.what);
          break;
        }
      }
    }
  }

  /// Only punctuation of a key, then letters or digits.
  static bool has_value(std::string_view rest) {
    const size_t assigned = rest.substr(0, 16).find_first_of(":=");
    if (assigned == std::string_view::npos) return false;
    for (char c : rest.substr(0, assigned)) {
      if (std::string_view("\\\"' \t").find(c) == std::string_view::npos) return false;
    }
    const size_t value = rest.find_first_not_of("\\\"' \t", assigned + 1);
    return value != std::string_view::npos &&
           std::isalnum(static_cast<unsigned char>(rest[value])) != 0;
  }

  std::string file_;
  std::span<const PersonalString> strings_;
  std::vector<AuditHit>& hits_;
};

}  // namespace

std::vector<AuditHit> audit_text(const std::string& file, std::string_view bytes,
                                 std::span<const PersonalString> strings) {
  std::vector<AuditHit> hits;
  Audit(file, strings, hits).look(bytes);
  std::vector<AuditHit> of_name;
  Audit("the name of a file", strings, of_name).look(file);
  hits.insert(hits.begin(), of_name.begin(), of_name.end());
  return hits;
}

std::vector<AuditHit> audit_folder(const fs::path& folder,
                                   std::span<const PersonalString> strings) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<AuditHit> hits;
  for (const fs::path& file : files) {
    const std::string name = file.lexically_relative(folder).generic_string();
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream bytes;
    if (stream.peek() != std::ifstream::traits_type::eof()) bytes << stream.rdbuf();
    if (!stream.is_open() || stream.bad() || bytes.bad()) {
      hits.push_back({name, 0, "it could not be read"});
      continue;
    }
    for (AuditHit& hit : audit_text(name, bytes.str(), strings)) {
      if (hits.size() < kMostHits) hits.push_back(std::move(hit));
    }
  }
  return hits;
}

}  // namespace mpsprobe
