#include "reproducers/bundle/redaction/text_scan.h"

#include <algorithm>
#include <array>

namespace mpsprobe {
namespace {

constexpr size_t kMostScannedName = 255;
constexpr size_t kMostPath = 4096;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equals_at(std::string_view text, size_t at, std::string_view lower_word) {
  if (at > text.size() || text.size() - at < lower_word.size()) return false;
  for (size_t i = 0; i < lower_word.size(); ++i) {
    if (lower(text[at + i]) != lower_word[i]) return false;
  }
  return true;
}

/// Bytes of the separator that begins there, 0: none.
size_t separator_at(std::string_view text, size_t at) {
  for (std::string_view form : {"/", "\\/", "%2f", "\\u002f"}) {
    if (equals_at(text, at, form)) return form.size();
  }
  return 0;
}

/// One or more of them.
size_t separators_at(std::string_view text, size_t at) {
  size_t bytes = 0;
  while (const size_t more = separator_at(text, at + bytes)) bytes += more;
  return bytes;
}

bool ends_path(char c, char quote) {
  if (quote != 0) return c == quote || c == '\n' || c == '\r';
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
         std::string_view("\"'`<>|;,()[]{}*?!").find(c) != std::string_view::npos || c == ':';
}

/// One past the path that goes on at `at`.
size_t path_end(std::string_view text, size_t at, char quote) {
  const size_t limit = std::min(text.size(), at + kMostPath);
  while (at < limit) {
    if (text[at] == '\\' && at + 1 < limit && (text[at + 1] == ' ' || text[at + 1] == '/')) {
      at += 2;
    } else if (text[at] == '\\' || ends_path(text[at], quote)) {
      const size_t separator = separator_at(text, at);
      if (separator == 0) break;
      at += separator;
    } else {
      ++at;
    }
  }
  return at;
}

/// One past the name of one folder. Of a volume it may hold blanks and apostrophes, where a
/// separator follows on the same line.
size_t name_end(std::string_view text, size_t at, char quote, bool blanks) {
  const size_t whole = path_end(text, at, quote);
  size_t end = at;
  while (end < whole && separator_at(text, end) == 0) ++end;
  if (!blanks || quote != 0 || separator_at(text, end) != 0) return end;
  size_t wider = end;
  while (wider < text.size() && wider - at < kMostScannedName && separator_at(text, wider) == 0 &&
         (is_name_byte(text[wider]) ||
          std::string_view(" '-_.&()").find(text[wider]) != std::string_view::npos)) {
    ++wider;
  }
  return separator_at(text, wider) != 0 ? wider : end;
}

/// The words after a separator that make a path personal, each with its own rule.
struct Root {
  std::string_view word;
  PersonalPath::Root root;
};
constexpr std::array<Root, 3> kRoots{{{"users", PersonalPath::Root::home},
                                      {"home", PersonalPath::Root::home},
                                      {"volumes", PersonalPath::Root::volume}}};

std::optional<PersonalPath> temporary_folder_at(std::string_view text, size_t at, char quote) {
  size_t next = at + separators_at(text, at);
  if (equals_at(text, next, "private")) {
    next += 7;
    const size_t separators = separators_at(text, next);
    if (separators == 0) return std::nullopt;
    next += separators;
  }
  for (std::string_view word : {"var", "folders"}) {
    if (!equals_at(text, next, word)) return std::nullopt;
    next += word.size();
    const size_t separators = separators_at(text, next);
    if (separators == 0) return std::nullopt;
    next += separators;
  }
  const size_t first = next;
  const size_t first_end = name_end(text, first, quote, false);
  if (first_end == first) return std::nullopt;
  const size_t second = first_end + separators_at(text, first_end);
  const size_t second_end = second > first_end ? name_end(text, second, quote, false) : first_end;
  const size_t end = path_end(text, second_end, quote);
  return PersonalPath{at, end, PersonalPath::Root::temporary, "",
                      std::string(text.substr(second_end, end - second_end))};
}

std::optional<PersonalPath> path_at(std::string_view text, size_t at) {
  const size_t separators = separators_at(text, at);
  if (separators == 0) return std::nullopt;
  const char before = at > 0 ? text[at - 1] : '\0';
  const char quote = before == '"' || before == '\'' || before == '`' ? before : '\0';
  for (const Root& root : kRoots) {
    const size_t word = at + separators;
    if (!equals_at(text, word, root.word)) continue;
    const size_t behind = word + root.word.size();
    const size_t more = separators_at(text, behind);
    if (more == 0) continue;
    const size_t name = behind + more;
    const size_t end = name_end(text, name, quote, root.root == PersonalPath::Root::volume);
    if (end == name) continue;
    const std::string owner(text.substr(name, end - name));
    if (ascii_lower(owner) == "shared" && root.word == "users") continue;
    const size_t path = path_end(text, end, quote);
    return PersonalPath{at, path, root.root, owner, std::string(text.substr(end, path - end))};
  }
  const bool begins =
      !is_name_byte(before) && std::string_view("._-~*>").find(before) == std::string_view::npos;
  if (begins && equals_at(text, at + separators, "root")) {
    const size_t end = at + separators + 4;
    const bool whole = end >= text.size() || separator_at(text, end) != 0 ||
                       (!is_name_byte(text[end]) &&
                        std::string_view("_-.").find(text[end]) == std::string_view::npos);
    if (whole) {
      const size_t path = path_end(text, end, quote);
      return PersonalPath{at, path, PersonalPath::Root::home, "root",
                          std::string(text.substr(end, path - end))};
    }
  }
  return temporary_folder_at(text, at, quote);
}

struct Key {
  std::string_view word;  ///< in lower case
  KeyedValue::Meaning meaning;
  bool whole;  ///< only where no letter, digit or '_' stands before it
};
using Meaning = KeyedValue::Meaning;
constexpr std::array<Key, 30> kKeys{{
    {"crashreporterkey", Meaning::identifier, false},
    {"crashreporter key", Meaning::identifier, false},
    {"crash_reporter_key", Meaning::identifier, false},
    {"userid", Meaning::identifier, true},
    {"user id", Meaning::identifier, true},
    {"bootsessionuuid", Meaning::identifier, false},
    {"boot session uuid", Meaning::identifier, false},
    {"incident_id", Meaning::identifier, true},
    {"incident identifier", Meaning::identifier, true},
    {"sleepwakeuuid", Meaning::identifier, false},
    {"sleep/wake uuid", Meaning::identifier, false},
    {"anonymous uuid", Meaning::identifier, false},
    {"hardware uuid", Meaning::identifier, false},
    {"platformuuid", Meaning::identifier, false},
    {"provisioning udid", Meaning::identifier, false},
    {"deviceidentifierforvendor", Meaning::identifier, false},
    {"serialnumber", Meaning::serial, false},
    {"serial number", Meaning::serial, false},
    {"serial_number", Meaning::serial, false},
    {"serial no", Meaning::serial, false},
    {"user", Meaning::user, true},
    {"username", Meaning::user, true},
    {"user name", Meaning::user, true},
    {"logname", Meaning::user, true},
    {"sudo_user", Meaning::user, true},
    {"hostname", Meaning::host, false},
    {"host name", Meaning::host, true},
    {"computername", Meaning::host, false},
    {"computer name", Meaning::host, true},
    {"home", Meaning::home, true},
}};

bool is_value_byte(char c) {
  return is_name_byte(c) || c == '-' || c == '_' || c == '.';
}

/// From one past a key to its value: closing quotation mark, "(system)", ':' or '=', opening one.
size_t value_begin(std::string_view text, size_t at) {
  const auto skip = [&](std::string_view set) {
    while (at < text.size() && set.find(text[at]) != std::string_view::npos) ++at;
  };
  skip("\\\"' \t");
  if (at < text.size() && text[at] == '(') {
    const size_t close = text.substr(at, 32).find(')');
    if (close == std::string_view::npos) return std::string_view::npos;
    at += close + 1;
    skip(" \t");
  }
  if (at >= text.size() || (text[at] != ':' && text[at] != '=')) return std::string_view::npos;
  ++at;
  skip("\\\"' \t");
  return at;
}

std::optional<KeyedValue> keyed_value_at(std::string_view text, size_t at) {
  const char first = lower(text[at]);
  const char second = at + 1 < text.size() ? lower(text[at + 1]) : '\0';
  for (const Key& key : kKeys) {
    if (key.word[0] != first || key.word[1] != second || !equals_at(text, at, key.word)) continue;
    if (key.whole && at > 0 && (is_name_byte(text[at - 1]) || text[at - 1] == '_')) continue;
    const size_t begin = value_begin(text, at + key.word.size());
    if (begin == std::string_view::npos) continue;
    size_t end = begin;
    while (end < text.size() && end - begin < kMostScannedName && is_value_byte(text[end])) ++end;
    if (end == begin) continue;
    // A word of prose behind "user:" or "home:" is none; an environment has '='.
    const bool prose = key.meaning == Meaning::user || key.meaning == Meaning::home;
    if (prose && text.substr(at, begin - at).find('=') == std::string_view::npos &&
        text.substr(at, begin - at).find('"') == std::string_view::npos) {
      continue;
    }
    return KeyedValue{begin, end, key.meaning};
  }
  return std::nullopt;
}

bool is_mail_byte(char c) {
  return is_letter_or_digit(c) || std::string_view("._%+-").find(c) != std::string_view::npos;
}

}  // namespace

bool is_name_byte(char c) {
  return is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

std::string ascii_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::optional<PersonalPath> find_personal_path(std::string_view text, size_t from) {
  for (size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (c != '/' && c != '\\' && c != '%') continue;
    if (auto path = path_at(text, at)) return path;
  }
  return std::nullopt;
}

std::optional<KeyedValue> find_keyed_value(std::string_view text, size_t from) {
  static const std::array<bool, 256> begins_key = [] {
    std::array<bool, 256> table{};
    for (const Key& key : kKeys) {
      table[static_cast<unsigned char>(key.word[0])] = true;
      table[static_cast<unsigned char>(key.word[0] - 'a' + 'A')] = true;
    }
    return table;
  }();
  for (size_t at = from; at < text.size(); ++at) {
    if (!begins_key[static_cast<unsigned char>(text[at])]) continue;
    if (auto value = keyed_value_at(text, at)) return value;
  }
  return std::nullopt;
}

std::optional<MailAddress> find_mail_address(std::string_view text, size_t from) {
  for (size_t at = text.find('@', from); at != std::string_view::npos;
       at = text.find('@', at + 1)) {
    size_t begin = at;
    while (begin > from && at - begin < kMostScannedName && is_mail_byte(text[begin - 1])) --begin;
    size_t end = at + 1;
    while (end < text.size() && end - at < kMostScannedName &&
           (is_letter_or_digit(text[end]) || text[end] == '.' || text[end] == '-')) {
      ++end;
    }
    while (end > at + 1 && text[end - 1] == '.') --end;
    const std::string_view domain = text.substr(at + 1, end - at - 1);
    const size_t dot = domain.rfind('.');
    const bool real = begin < at && dot != std::string_view::npos && dot > 0 &&
                      domain.size() - dot > 2 &&
                      std::none_of(domain.begin() + static_cast<std::ptrdiff_t>(dot), domain.end(),
                                   [](char c) { return c >= '0' && c <= '9'; });
    if (real) return MailAddress{begin, end};
  }
  return std::nullopt;
}

bool is_identifying_key(std::string_view key) {
  const std::string word = ascii_lower(key);
  if (word == "incident") return true;
  return std::any_of(kKeys.begin(), kKeys.end(), [&word](const Key& known) {
    return known.meaning != Meaning::user && known.meaning != Meaning::home &&
           word.find(known.word) != std::string::npos;
  });
}

}  // namespace mpsprobe
