#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mpsprobe {

enum class PersonalKind : uint8_t {
  user_name,
  full_name,
  host_name,
  home_path,
  volume_name,
  temporary_folder,
  serial_number,
  identifier,  ///< crashReporterKey, incident_id, bootSessionUUID and the like
  mail_address,
  secret,  ///< a password, key or token
  network_address,
  phone_number,
  account_number,  ///< of a card, a bank, a person or a document
  device_name,     ///< as its owner named it
  file_name,       ///< of a document
  location,        ///< where somebody lives or was, and a date of birth
  given,           ///< with --redact
  unsearched,      ///< nobody knows what is in it
};

/// For people: "user name".
std::string_view name_of(PersonalKind kind);
/// The kind that people know by this name. Throws std::invalid_argument for another.
PersonalKind personal_kind(std::string_view name);
/// What is put in its place: "<user>".
std::string_view placeholder_of(PersonalKind kind);

/// A text that must not be handed on.
struct PersonalString {
  PersonalKind kind = PersonalKind::given;
  std::string text;  ///< in lower case as far as it is ASCII
  /// Only where no letter or digit stands beside it: it is short, and a part of other words.
  bool whole_word = false;
  friend bool operator==(const PersonalString&, const PersonalString&) = default;
};

/// What is known to be personal: of this machine, given by the user, and learned from the evidence
/// itself, which may come from another machine. A plain set; looks for nothing (redactor.h,
/// audit.h).
class PersonalStrings {
 public:
  /// Adds one, and every form in which it is commonly written. Texts of fewer than 3 bytes, system
  /// accounts and words that a bundle itself is written in ("metal", "thread") are left out: they
  /// are replaced in paths alone, and `left_out` counts them.
  void add(PersonalKind kind, std::string_view text);

  /// Names in paths, values behind keys ("crashReporterKey: ..."), and what patterns find that is a
  /// name wherever it stands (personal_patterns.h).
  void learn_text(std::string_view text);
  /// Every text of a JSON value, and the values of keys that identify a machine or a session.
  void learn_json(const nlohmann::json& value);
  void learn_json(const nlohmann::ordered_json& value);

  /// Longest first: a name that holds another is replaced before it.
  const std::vector<PersonalString>& all() const { return strings_; }
  int left_out() const { return left_out_; }

  /// Whether a bundle says this word itself, so that it cannot be taken out of one.
  static bool is_own_word(std::string_view text);

 private:
  template <typename Json>
  void learn_below(const Json& value, int depth);
  void insert(PersonalKind kind, std::string_view text);

  std::vector<PersonalString> strings_;
  /// Texts that were learned from: a journal says the same ten thousand times.
  std::unordered_set<std::string> learned_;
  int left_out_ = 0;
};

/// Of this user and this machine: account, full name, home folder, host names, serial numbers, as
/// far as the system tells. Runs `scutil` and `ioreg` on macOS, at most 5 s each.
std::vector<PersonalString> personal_strings_of_this_machine();

/// Of what `ioreg -rd1 -c IOPlatformExpertDevice` prints: the values that name this one machine.
std::vector<PersonalString> personal_strings_of_ioreg(std::string_view printed);

}  // namespace mpsprobe
