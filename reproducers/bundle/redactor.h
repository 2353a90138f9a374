#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "reproducers/bundle/personal.h"

namespace mpsprobe {

/// Takes personal data out of what goes into a bundle, and counts what it took, never the strings
/// themselves. One for one bundle; not for several threads.
class Redactor {
 public:
  /// With `enabled` false every text stays as it is (--no-redact).
  Redactor(const PersonalStrings& strings, bool enabled) : strings_(strings), enabled_(enabled) {}

  bool enabled() const { return enabled_; }

  /// Names the part of the evidence that the next texts are of: "stderr of trials".
  void at(std::string part) { part_ = std::move(part); }

  /// Text of no known form: known strings, paths below a home folder or a volume, values behind
  /// telling keys, addresses of mail. A path keeps its last part: "~/*/file.py".
  std::string text(std::string_view text);

  /// A field that holds a path: of a place that every machine has (/usr, /System ...) it stays,
  /// otherwise its last part alone is left.
  std::string path(std::string_view path);

  /// A loader's words: paths that begin at the root as `path` says, between them `text`.
  std::string message(std::string_view message);

  /// An argument of a command line: a path, or NAME=PATH, by `path`; anything else by `text`.
  std::string argument(std::string_view argument);

  /// An environment variable as K=V. Values of variables that are not known to be about the
  /// software under test are taken out.
  std::string variable(std::string_view assignment);

  /// Notes that something was left out as a whole: a key that is not on the list of those wanted.
  void dropped(std::string_view key);

  /// (part, what was replaced) -> how often.
  const std::map<std::pair<std::string, std::string>, size_t>& replaced() const {
    return replaced_;
  }
  /// part -> keys that were left out, without an index into lists.
  const std::map<std::string, std::set<std::string>>& left_out() const { return left_out_; }

 private:
  void count(PersonalKind kind);
  std::string without_paths(std::string_view text);
  std::string without_keyed_values(std::string_view text);
  std::string without_known(std::string_view text);
  std::string without_mail(std::string_view text);

  const PersonalStrings& strings_;
  bool enabled_;
  std::string part_ = "evidence";
  std::map<std::pair<std::string, std::string>, size_t> replaced_;
  std::map<std::string, std::set<std::string>> left_out_;
};

}  // namespace mpsprobe
