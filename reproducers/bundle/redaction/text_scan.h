#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mpsprobe {

// Where personal data stand in text whose form nobody knows: stderr, texts of exceptions, last
// words of libraries. Pure functions of untrusted bytes, linear in them; separators may be written
// "/", "\/", "%2F" or "\u002f".

/// A path below a home folder, a volume or a user's temporary folder.
struct PersonalPath {
  size_t begin = 0;
  size_t end = 0;
  enum class Root : unsigned char { home, volume, temporary } root = Root::home;
  std::string owner;  ///< name of the folder: of the user, or of the volume
  std::string rest;   ///< what follows it, from its first separator on; may be empty
};

/// The first at or behind `from`: /Users/NAME, /home/NAME, /root, /Volumes/NAME,
/// /private/var/folders/xx/yyyy. A path in quotation marks reaches to the closing one; otherwise to
/// a blank, or, in the name of a volume, to the next separator.
std::optional<PersonalPath> find_personal_path(std::string_view text, size_t from);

/// A value behind a key that names what is personal: `crashReporterKey: 1234`, `"userID" : 501`,
/// `USER=name`.
struct KeyedValue {
  size_t begin = 0;  ///< of the value
  size_t end = 0;
  enum class Meaning : unsigned char {
    identifier,
    serial,
    user,
    host,
    home
  } meaning = Meaning::identifier;
};

std::optional<KeyedValue> find_keyed_value(std::string_view text, size_t from);

/// An address of mail, begin and end.
struct MailAddress {
  size_t begin = 0;
  size_t end = 0;
};

std::optional<MailAddress> find_mail_address(std::string_view text, size_t from);

/// Whether a key of a structured file holds an identifier of a machine, a user or a session.
bool is_identifying_key(std::string_view key);

/// Letters and digits of ASCII, and every byte beyond ASCII.
bool is_name_byte(char c);
std::string ascii_lower(std::string_view text);

}  // namespace mpsprobe
