#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/wire/cell.h"
#include "reproducers/bundle/redaction/software_text.h"

namespace mpsprobe {

/// What stands in the place of what was left out.
inline constexpr std::string_view kLeftOut = "<...>";

/// Whether the name stands for one that was kept out of a bundle (Redactor::cell): "operation_1",
/// "VARIABLE_2". A worker may have an operation of such a name all the same.
bool is_stand_in(std::string_view name);

/// The redacted title without the number that tells it from another that is shown alike:
/// "wrong result: <...> (2)".
std::string without_number(const std::string& title);

/// Whether a redacted text may be of `text`: kLeftOut stands for anything. False where nothing but
/// that is in it.
bool could_be_shown_as(const std::string& text, const std::string& redacted);

/// What others wrote, as it may be handed on: only what the software under test contains, what a
/// rule of the signatures knows, names of its functions, and what has a kind (typed_values.h). For
/// all else stands kLeftOut. One for one bundle; not for several threads.
class Redactor {
 public:
  /// With `enabled` false every text stays as it is (--no-redact). `given` (--redact) is never
  /// kept, whoever says it.
  explicit Redactor(bool enabled, std::vector<std::string> given = {});

  bool enabled() const { return enabled_; }
  /// Texts of the software under test and of mpsprobe itself: to be filled before the first text.
  SoftwareText& software() { return software_; }
  const SoftwareText& software() const { return software_; }
  SoftwareText& own() { return own_; }
  /// The name of an image that a process of the run had loaded from a folder of the system.
  void add_system_image(std::string_view path);

  /// A short text.
  std::string text(std::string_view text);
  /// What a process printed or threw: the lines of which anything is known.
  std::string output(std::string_view text);
  /// The same as it is, but for the given texts (--with-output).
  std::string without_given(std::string text) const;
  /// A title whose functions are those of `functions`, or text.
  std::string title(std::string_view title, const std::set<std::string>& functions);
  /// A function in `image`, a path or a name.
  std::string symbol(std::string_view function, std::string_view image);
  /// What a system tells of itself, and no user: "macOS 15.3".
  std::string of_system(std::string_view text);
  /// The id of an image: hexadecimal digits, or "<id>".
  std::string build_id(std::string_view id);
  /// Of a place that every machine has as it is; of others the name, where it is the software's.
  std::string path(std::string_view path);
  /// A word of mpsprobe's own.
  bool is_own_word(std::string_view word) const;
  /// An operation and variables that are nobody's known ones get names of ours, the same ones
  /// everywhere: "operation_1", "env.VARIABLE_2=value_3".
  void cell(Cell& cell);
  /// K=V: of a variable that is not about the software under test neither is left.
  std::string variable(std::string_view assignment);
  void command_line(std::vector<std::string>& arguments);

  bool is_of_the_software(std::string_view image) const;

  size_t lines_left_out() const { return lines_left_out_; }
  size_t texts_left_out() const { return texts_left_out_; }

 private:
  struct Shown {
    std::string text;
    size_t left_out = 0;
    bool known = false;  ///< more than numbers and marks
  };
  void each_line(std::string_view text, const std::set<std::string>& functions,
                 const std::function<void(std::string_view, Shown)>& take);
  Shown shown(std::string_view text, const std::set<std::string>& functions = {});
  Shown shown_line(std::string_view whole, std::string_view line, const std::vector<bool>& rules);
  bool mark_frame(std::string_view line, std::vector<bool>& keep) const;
  bool is_value_of_the_software(const std::string& text) const;
  std::string stand_in(std::string_view kind, const std::string& text);
  std::string argument(std::string_view argument);

  bool enabled_;
  std::vector<std::string> given_;
  SoftwareText software_;
  SoftwareText own_;
  std::set<std::string, std::less<>> system_images_;
  /// Many trials say the same: each text is looked through once.
  std::unordered_map<std::string, Shown> texts_;
  std::unordered_map<std::string, Shown> outputs_;
  std::map<std::string, std::string> stand_ins_;
  size_t lines_left_out_ = 0;
  size_t texts_left_out_ = 0;
};

}  // namespace mpsprobe
