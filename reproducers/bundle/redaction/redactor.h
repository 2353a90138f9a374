#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/wire/cell.h"
#include "reproducers/bundle/redaction/known_text.h"
#include "reproducers/bundle/redaction/personal.h"

namespace mpsprobe {

/// Whether a variable of the environment is about Metal, PyTorch, the loader or threads: its value
/// is taken over, as far as it names nobody. Every other value is left out.
bool is_variable_of_the_software(std::string_view name);

/// Whether the name stands for one that was kept out of a bundle (Redactor::cell): "operation_1",
/// "VARIABLE_2". A worker may have an operation of such a name all the same.
bool is_stand_in(std::string_view name);

/// Takes personal data out of what goes into a bundle, and counts what it took, never the strings
/// themselves. One for one bundle; not for several threads.
///
/// What others wrote is kept by what is known to name nobody (known_text.h), and not by what is
/// known to be personal: that list has no end. `text` alone takes out what is known to be personal.
class Redactor {
 public:
  /// What becomes of what processes printed.
  enum class Output : unsigned char {
    known_lines,  ///< the lines of it that are known
    whole,        ///< all of it, by `text`, and of that what is known (--with-output)
  };
  /// With `enabled` false every text stays as it is (--no-redact).
  Redactor(const PersonalStrings& strings, bool enabled, Output output = Output::known_lines)
      : strings_(strings), enabled_(enabled), output_(output) {}

  bool enabled() const { return enabled_; }
  /// Whether lines of what processes printed are left out.
  bool leaves_lines_out() const { return enabled_ && output_ == Output::known_lines; }

  /// Names the part of the evidence that the next texts are of: "stderr of trials".
  void at(std::string part) { part_ = std::move(part); }

  /// Text of no known form: known strings, what patterns find (personal_patterns.h), paths below a
  /// home folder or a volume, values behind telling keys, addresses of mail. A path keeps its last
  /// part: "~/*/file.py".
  std::string text(std::string_view text);

  /// A short text that others chose: only_known() of it.
  std::string known(std::string_view text, Names names);

  /// What a process printed or threw: its known lines, or all of it by `text`.
  std::string output(std::string_view text);

  /// The id of a build or an image: as it is, or "<id>" where it is none.
  std::string build_id(std::string_view id);

  /// A field that holds a path: of a place that every machine has (/usr, /System ...) it stays,
  /// otherwise its last part alone is left, and of that nothing but its ending where it is none
  /// of a known library, program or source.
  std::string path(std::string_view path);

  /// A field that holds the name of an image or a process: as it is where the name is one of
  /// software that everybody has and of known words, otherwise "<image>".
  std::string image(std::string_view name);

  /// A loader's words: paths that begin at the root as `path` says, between them `known`.
  std::string message(std::string_view message);

  /// An argument of a command line: a path, or NAME=PATH, by `path`; anything else by `known`.
  std::string argument(std::string_view argument);

  /// A whole command line: each by `argument`, but for the variables of --env, by `variable`.
  void command_line(std::vector<std::string>& arguments);

  /// A cell as it may be handed on: an operation and variables that are not known get names of
  /// ours, the same ones everywhere: "operation_1", "env.VARIABLE_2=value_3".
  void cell(Cell& cell);

  /// An environment variable as K=V: of one that is not known to be about the software under test
  /// neither is left.
  std::string variable(std::string_view assignment);

  /// Notes that something was left out as a whole: a key that is not on the list of those wanted.
  void dropped(std::string_view key);

  /// part -> lines of output that were left out.
  const std::map<std::string, size_t>& lines_left_out() const { return lines_left_out_; }
  /// (part, what was replaced) -> how often.
  const std::map<std::pair<std::string, std::string>, size_t>& replaced() const {
    return replaced_;
  }
  /// part -> keys that were left out, without an index into lists.
  const std::map<std::string, std::set<std::string>>& left_out() const { return left_out_; }

 private:
  struct Done {
    std::string text;
    std::vector<PersonalKind> replaced;
    size_t lines_left_out = 0;
    size_t not_known = 0;
  };
  using Memory = std::unordered_map<std::string, Done>;

  void count(PersonalKind kind);
  std::string stand_in(std::string_view kind, const std::string& text);
  std::string recall(Memory& memory, std::string_view text,
                     Done (Redactor::*make)(std::string_view));
  Done make_text(std::string_view text);
  Done made_known(std::string_view text, Names names, Numbers numbers);
  Done make_words(std::string_view text);
  Done make_symbols(std::string_view text);
  Done make_lines(std::string_view text);
  Done make_whole_output(std::string_view text);
  template <typename Find, typename Shown>
  std::string without(std::string_view text, const Find& find, const Shown& shown);
  std::string without_patterns(std::string_view text);
  std::string without_paths(std::string_view text);
  std::string without_keyed_values(std::string_view text);
  std::string without_known(std::string_view text);
  std::string without_mail(std::string_view text);

  const PersonalStrings& strings_;
  bool enabled_;
  Output output_;
  std::string part_ = "evidence";
  std::map<std::string, size_t> lines_left_out_;
  /// Many trials say the same: each text is looked through once.
  Memory texts_;
  Memory words_;
  Memory symbols_;
  Memory lines_;
  std::map<std::string, std::string, std::less<>> stand_ins_;
  std::vector<PersonalKind>* noting_ = nullptr;
  std::map<std::pair<std::string, std::string>, size_t> replaced_;
  std::map<std::string, std::set<std::string>> left_out_;
};

}  // namespace mpsprobe
