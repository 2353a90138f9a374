#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

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
  bool optional_value = false;
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

}  // namespace mpsprobe
