#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace mpsprobe {

/// What a command line takes, read off the options themselves, for all that is made from them.
struct OptionInfo {
  std::string name;         ///< "--matrix", or of a positional its name
  std::string type;         ///< "[NAME|FILE]"; empty for a flag
  std::string description;  ///< one line
  std::string group;
  std::vector<std::string> values;  ///< what it may be; empty: anything
  std::string list;                 ///< what `mpsprobe list` shows its values by; "" for none
  bool positional = false;
  bool repeated = false;
  bool names_file = false;
};

struct CommandInfo {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<OptionInfo> options;
};

/// The commands of a program, in the order in which they were declared.
std::vector<CommandInfo> commands_of(const CLI::App& program);

/// A script with which a shell ("bash", "zsh" or "fish") completes: it asks the program, as
/// `mpsprobe completions SHELL -- WORD...`, for completions_of() the words so far.
std::string completion_script(std::string_view shell);

/// What the last of the words, of which there is one, may become: a command, an option or a value.
/// Each on a line of its own, with a tab and what it means where that is known, and at the end
/// ":files" where it may be a file. Values that depend on the installation (matrices, operations,
/// profiles) are looked up.
std::string completions_of(const std::vector<std::string>& words,
                           const std::vector<CommandInfo>& commands);

/// The page mpsprobe(1), in man's own macros: every command with its options. `exit_codes` are
/// those that all commands share.
std::string man_page(std::string_view description, std::string_view exit_codes,
                     const std::vector<CommandInfo>& commands);

/// How help is laid out: names to the left, what they mean wrapped to their right, nothing wider
/// than `width` columns. What an option may be stands in its description.
std::shared_ptr<CLI::FormatterBase> help_format(size_t width);

}  // namespace mpsprobe
