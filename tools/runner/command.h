#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace mpsprobe {

/// What the user called.
struct Called {
  std::vector<std::string> words;  ///< the program as it was called, then its arguments
  std::vector<std::string>
      command;              ///< of these, what stands behind `--`, if the command takes that
  const CLI::App* program;  ///< with every command; outlives the call
};

/// Does what a command was asked for. Returns the exit code (exit_code.h), with standard output
/// looked after; throws as the command does.
using RunCommand = std::function<int()>;

/// A sub-command: everything that the program, its help, the completions and the manual page know
/// of it.
struct Command {
  std::string_view name;
  std::string_view group;       ///< heading in the help
  std::string_view summary;     ///< one line
  std::string_view examples;    ///< in its help
  std::string_view exit_codes;  ///< in its help; empty: none of its own
  /// Adds its options and gives what runs it with them: there is no command without either.
  RunCommand (*add)(CLI::App& app, const Called& called);
  bool takes_command = false;  ///< behind `--` stands a command of the user's own
};

/// All of them, in the order of the completions. What stands here is a command, and nothing else.
std::span<const Command> commands();

extern const char* const kDescription;  ///< of the whole program
extern const char* const kExitCodes;    ///< that all commands share

/// `code`, or kExitMachine where the command succeeded and standard output could not be written:
/// `list --json` into a full disk is no success. Says so on standard error.
int printed(int code);

/// A command whose options are a plain struct: both live as long as what is returned.
template <typename Options>
RunCommand bound(CLI::App& app, void (*add)(CLI::App&, Options&), int (*run)(const Options&),
                 Options begin = {}) {
  const auto options = std::make_shared<Options>(std::move(begin));
  add(app, *options);
  return [options, run] { return printed(run(*options)); };
}

// Each in the source of its command.
RunCommand add_debug(CLI::App& app, const Called& called);
RunCommand add_diff(CLI::App& app, const Called& called);
RunCommand add_doctor(CLI::App& app, const Called& called);
RunCommand add_feedback(CLI::App& app, const Called& called);
RunCommand add_expect(CLI::App& app, const Called& called);
RunCommand add_history(CLI::App& app, const Called& called);
RunCommand add_list(CLI::App& app, const Called& called);
RunCommand add_merge(CLI::App& app, const Called& called);
RunCommand add_new(CLI::App& app, const Called& called);
RunCommand add_observe(CLI::App& app, const Called& called);
RunCommand add_read(CLI::App& app, const Called& called);
RunCommand add_report(CLI::App& app, const Called& called);

}  // namespace mpsprobe
