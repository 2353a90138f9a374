#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reproducers/bundle/redaction/personal.h"

namespace mpsprobe {

/// Whether a variable of the environment is about Metal, PyTorch, the loader or threads: its value
/// is taken over, as far as it names nobody. Every other value is left out.
bool is_variable_of_the_software(std::string_view name);

/// Takes personal data out of what goes into a bundle, and counts what it took, never the strings
/// themselves. One for one bundle; not for several threads.
class Redactor {
 public:
  /// With `enabled` false every text stays as it is (--no-redact).
  Redactor(const PersonalStrings& strings, bool enabled) : strings_(strings), enabled_(enabled) {}

  bool enabled() const { return enabled_; }

  /// Names the part of the evidence that the next texts are of: "stderr of trials".
  void at(std::string part) { part_ = std::move(part); }

  /// Text of no known form: known strings, what patterns find (personal_patterns.h), paths below a
  /// home folder or a volume, values behind telling keys, addresses of mail. A path keeps its last
  /// part: "~/*/file.py".
  std::string text(std::string_view text);

  /// A field that holds a path: of a place that every machine has (/usr, /System ...) it stays,
  /// otherwise its last part alone is left, and of that the ending alone where a name like it is
  /// none of a library, a program or a source.
  std::string path(std::string_view path);

  /// A field that holds the name of an image or a process: as it is where the name is one of
  /// software that everybody has, otherwise "<image>".
  std::string image(std::string_view name);

  /// A loader's words: paths that begin at the root as `path` says, between them `text`.
  std::string message(std::string_view message);

  /// An argument of a command line: a path, or NAME=PATH, by `path`; anything else by `text`.
  std::string argument(std::string_view argument);

  /// A whole command line: each by `argument`, but for the variables of --env, by `variable`.
  void command_line(std::vector<std::string>& arguments);

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
  std::string without_patterns(std::string_view text);
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
