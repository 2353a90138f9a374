#include "reproducers/bundle/redaction/personal.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "harness/wire/axis.h"
#include "reproducers/bundle/redaction/personal_patterns.h"
#include "reproducers/bundle/redaction/text_scan.h"

namespace mpsprobe {
namespace {

constexpr size_t kFewestBytes = 3;
constexpr size_t kMostStrings = 1024;
/// Of a text that is remembered, and texts that are.
constexpr size_t kMostRememberedBytes = 4096;
constexpr size_t kMostLearned = size_t{1} << 16;
/// Below this a name is replaced only where it stands alone: "ann" is in "channel".
constexpr size_t kDistinctBytes = 6;
constexpr int kMostNesting = 64;

struct KindRow {
  PersonalKind kind;
  std::string_view name;
  std::string_view placeholder;
};
using Kind = PersonalKind;
constexpr std::array<KindRow, 18> kKinds{{
    {Kind::user_name, "user name", "<user>"},
    {Kind::full_name, "full name", "<name>"},
    {Kind::host_name, "host name", "<host>"},
    {Kind::home_path, "path of a home folder", "~"},
    {Kind::volume_name, "path of a volume", "~"},
    {Kind::temporary_folder, "path of a temporary folder", "~"},
    {Kind::serial_number, "serial number", "<serial>"},
    {Kind::identifier, "identifier of a machine, user, session or incident", "<id>"},
    {Kind::mail_address, "address of mail", "<mail>"},
    {Kind::secret, "secret", "<secret>"},
    {Kind::network_address, "network address", "<address>"},
    {Kind::phone_number, "phone number", "<phone>"},
    {Kind::account_number, "account number", "<number>"},
    {Kind::device_name, "device name", "<device>"},
    {Kind::file_name, "file name", "<file>"},
    {Kind::location, "place or date of a person", "<place>"},
    {Kind::given, "text given with --redact", "<redacted>"},
    {Kind::unsearched, "text that took too long to look through", "<not searched>"},
}};

const KindRow& row_of(PersonalKind kind) {
  return *std::find_if(kKinds.begin(), kKinds.end(),
                       [kind](const KindRow& row) { return row.kind == kind; });
}

/// Words that a bundle is written in, accounts and machines that are nobody's (own_words.txt), and
/// those of axes.
const std::set<std::string>& own_words() {
  static const std::set<std::string> words = [] {
    std::set<std::string> all{
#include "own_words.inc"
    };
    for (const Axis& axis : axes()) {
      all.insert(ascii_lower(axis.name));
      for (std::string_view value : axis.values) all.insert(ascii_lower(value));
    }
    return all;
  }();
  return words;
}

bool has_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\"";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// "Name of Host" as the system turns it into a LocalHostName: "Name-of-Host".
std::string host_form(std::string_view computer_name) {
  std::string form;
  for (char c : computer_name) {
    if (is_name_byte(c)) {
      form += c;
    } else if (c != '\'' && !form.empty() && form.back() != '-') {
      form += '-';
    }
  }
  while (!form.empty() && form.back() == '-') form.pop_back();
  return form;
}

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string result;
  for (char c : text) {
    if (c == from) {
      result += to;
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string_view name_of(PersonalKind kind) {
  return row_of(kind).name;
}

std::string_view placeholder_of(PersonalKind kind) {
  return row_of(kind).placeholder;
}

PersonalKind personal_kind(std::string_view name) {
  for (const KindRow& row : kKinds) {
    if (row.name == name) return row.kind;
  }
  throw std::invalid_argument("no kind of personal data: " + std::string(name));
}

bool PersonalStrings::is_own_word(std::string_view text) {
  return own_words().contains(ascii_lower(text));
}

void PersonalStrings::insert(PersonalKind kind, std::string_view text) {
  const std::string_view bare = without_blanks(text);
  if (bare.empty() || strings_.size() >= kMostStrings) return;
  if (bare.size() < kFewestBytes || is_own_word(bare) || !(has_letter(bare) || bare.size() > 7)) {
    ++left_out_;
    return;
  }
  // Digits alone are a part of longer numbers.
  PersonalString added{kind, ascii_lower(bare), bare.size() < kDistinctBytes || !has_letter(bare)};
  const auto holds = [&](const std::string& word) {
    return word.find(added.text) != std::string::npos;
  };
  added.whole_word = added.whole_word || std::any_of(own_words().begin(), own_words().end(), holds);
  const auto same = [&](const PersonalString& other) { return other.text == added.text; };
  if (std::any_of(strings_.begin(), strings_.end(), same)) return;
  const auto longer = [&](const PersonalString& other) {
    return other.text.size() < added.text.size() ||
           (other.text.size() == added.text.size() && other.text > added.text);
  };
  strings_.insert(std::find_if(strings_.begin(), strings_.end(), longer), added);
}

void PersonalStrings::add(PersonalKind kind, std::string_view text) {
  text = without_blanks(text);
  insert(kind, text);
  const bool blanks = text.find(' ') != std::string_view::npos;
  if (blanks) {
    for (std::string_view between : {"%20", "\\ ", "-", "_", ".", "+", ""}) {
      insert(kind, replaced(text, ' ', between));
    }
  }
  if (kind == PersonalKind::full_name) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find_first_of(" ,", begin), text.size());
      if (end > begin) insert(kind, text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (kind == PersonalKind::host_name) {
    insert(kind, host_form(text));
    if (const size_t dot = text.find('.'); dot != std::string_view::npos && dot > 0) {
      insert(kind, text.substr(0, dot));
    }
  }
  if (kind == PersonalKind::identifier && text.find('-') != std::string_view::npos) {
    insert(kind, replaced(text, '-', ""));
  }
}

void PersonalStrings::learn_text(std::string_view text) {
  if (text.size() <= kMostRememberedBytes) {
    if (learned_.size() >= kMostLearned) learned_.clear();
    if (!learned_.emplace(text).second) return;
  }
  size_t from = 0;
  while (const auto path = find_personal_path(text, from)) {
    from = path->end;
    if (path->root == PersonalPath::Root::temporary) continue;
    const bool volume = path->root == PersonalPath::Root::volume;
    add(volume ? PersonalKind::volume_name : PersonalKind::user_name, path->owner);
  }
  from = 0;
  while (const auto value = find_keyed_value(text, from)) {
    from = value->end;
    const std::string_view found = text.substr(value->begin, value->end - value->begin);
    using Meaning = KeyedValue::Meaning;
    if (value->meaning == Meaning::user) {
      add(PersonalKind::user_name, found);
    } else if (value->meaning == Meaning::host) {
      add(PersonalKind::host_name, found);
    } else if (value->meaning == Meaning::serial) {
      add(PersonalKind::serial_number, found);
    } else if (found.size() >= kDistinctBytes) {
      add(PersonalKind::identifier, found);
    }
  }
  for (const PatternHit& hit : names_by_pattern(text)) {
    add(hit.kind, text.substr(hit.begin, hit.end - hit.begin));
  }
}

template <typename Json>
void PersonalStrings::learn_below(const Json& value, int depth) {
  if (depth > kMostNesting) return;
  if (value.is_string()) {
    learn_text(value.template get_ref<const std::string&>());
  } else if (value.is_array()) {
    for (const Json& element : value) learn_below(element, depth + 1);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      learn_text(key);
      const bool identifies = is_identifying_key(key) && member.is_string();
      if (identifies) {
        const auto& text = member.template get_ref<const std::string&>();
        const std::string word = ascii_lower(key);
        const bool host =
            word.find("host") != std::string::npos || word.find("computer") != std::string::npos;
        const bool serial = word.find("serial") != std::string::npos;
        add(host     ? PersonalKind::host_name
            : serial ? PersonalKind::serial_number
                     : PersonalKind::identifier,
            text);
      }
      learn_below(member, depth + 1);
    }
  }
}

void PersonalStrings::learn_json(const nlohmann::json& value) {
  learn_below(value, 0);
}

void PersonalStrings::learn_json(const nlohmann::ordered_json& value) {
  learn_below(value, 0);
}

}  // namespace mpsprobe
