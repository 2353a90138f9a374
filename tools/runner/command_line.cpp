#include "tools/runner/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/input/near_name.h"
#include "harness/provenance/own_build.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "tools/runner/command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/help/help.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"

namespace mpsprobe {
namespace {

constexpr size_t kUsualWidth = 80;
constexpr size_t kMostWidth = 120;  // longer lines are hard to read

constexpr const char* kTooLittleMemory =
    "the memory that this process may use is not enough. Allow more (ulimit -v; the limit of the "
    "container or job). What was recorded is kept: --resume goes on with a run";
constexpr const char* kNoThread =
    "the system refuses another thread. Allow more processes (ulimit -u) or memory (ulimit -v). "
    "What was recorded is kept: --resume goes on with a run";

/// The program as the user called it, through a script or not: printed commands begin with it.
std::string called_as(const char* program) {
  const char* through = std::getenv("MPSPROBE_CALLED_AS");
  std::string called = through != nullptr && *through != '\0' ? through : program;
  unsetenv("MPSPROBE_CALLED_AS");  // not for a worker that calls mpsprobe itself
  return called;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

/// What is to be shown before anything is parsed: the help where nothing or `help` is asked for.
/// Throws InputError for a first word that is no command. Nothing: parse.
std::optional<std::string> help_asked_for(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return app.help();
  const std::vector<std::string> names = command_names();
  std::string first = argv[1];
  const bool help = first == "help";
  if (help && argc < 3) return app.help();
  if (help) first = argv[2];
  if (std::find(names.begin(), names.end(), first) != names.end()) {
    if (!help) return std::nullopt;
    return app.get_subcommand(first)->help("mpsprobe");
  }
  if (first.starts_with('-')) return std::nullopt;
  std::vector<std::string> known = names;
  known.emplace_back("help");
  throw InputError(shortened(printable(first), 60),
                   "there is no such subcommand" + did_you_mean(first, known),
                   fmt::format("There are: {}", fmt::join(names, ", ")));
}

/// Words that a command has no place for: an option that is none, or one word too many.
void refuse_extras(const CLI::App& command) {
  std::vector<std::string> extras = command.remaining();
  std::erase(extras, "--");  // ends the options; CLI11 counts it as left over
  if (extras.empty()) return;
  const std::string remedy =
      fmt::format("`mpsprobe {} --help` shows what there is", command.get_name());
  for (const std::string& extra : extras) {
    if (!extra.starts_with('-')) continue;
    const std::string name = extra.substr(0, extra.find('='));
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& each : option->get_lnames()) known.push_back("--" + each);
    }
    throw InputError(command.get_name() + " " + shortened(printable(name), 60),
                     "there is no such option" + did_you_mean(name, known), remedy);
  }
  throw InputError(command.get_name() + " " + shortened(printable(extras.front()), 60),
                   "is one word too many", remedy);
}

/// Where the user's own command begins, behind `--`; `argc` where there is none, and where the
/// command that is called takes none.
int own_command_at(int argc, char** argv) {
  const auto called = std::ranges::find_if(
      commands(), [&](const Command& command) { return argc > 1 && command.name == argv[1]; });
  if (called == commands().end() || !called->takes_command) return argc;
  const auto* const mark = std::find(argv + 2, argv + argc, std::string_view("--"));
  return std::min(argc, static_cast<int>(mark - argv) + 1);
}

std::string footer_of(const Command& command) {
  std::string footer(command.examples);
  if (!footer.empty() && !command.exit_codes.empty()) footer += "\n\n";
  return footer + std::string(command.exit_codes);
}

int fail(int code, const std::string& message) {
  say(stderr, "mpsprobe: {}\n", printable(message, Lines::keep));
  return code;
}

/// What CLI11 found wrong, in this program's words.
std::string in_own_words(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const std::string command = parsed.empty() ? "" : parsed.front()->get_name() + ": ";
  const std::string help = fmt::format(". `mpsprobe {}--help` shows what there is",
                                       parsed.empty() ? "" : parsed.front()->get_name() + " ");
  const std::string what = error.what();
  if (const size_t at = what.find(" is required"); at != std::string::npos && !parsed.empty()) {
    const std::string name = what.substr(0, at);
    const CLI::Option* option = parsed.front()->get_option_no_throw(name);
    if (option == nullptr) return command + what + help;
    return fmt::format("{}nothing says which {}. Name it: {}", command, name,
                       option->get_description());
  }
  // "At Most" before CLI11 2.7.
  for (const char* much : {": At most 1 required", ": At Most 1 required"}) {
    const size_t at = what.find(much);
    if (at == std::string::npos) continue;
    return command + what.substr(0, at) + ": is given more than once. Give it once";
  }
  if (error.get_name() == "ArgumentMismatch") {
    return command + what.substr(0, what.find(':')) + ": has no value" + help;
  }
  return command + what;
}

}  // namespace

int command_line(int argc, char** argv) {
  CLI::App app{kDescription};
  app.name("mpsprobe");
  app.set_version_flag("-V,-v,--version",
                       fmt::format("mpsprobe {} ({})", MPSPROBE_VERSION, own_build()));
  app.footer(kExitCodes);
  app.require_subcommand(1);
  const size_t width = screen_width(STDOUT_FILENO);
  app.formatter(help_format(width == 0 ? kUsualWidth : std::min(width, kMostWidth)));

  Called called{{called_as(argv[0])}, {}, &app};
  for (int i = 1; i < argc; ++i) called.words.emplace_back(argv[i]);
  const int own = own_command_at(argc, argv);
  called.command.assign(argv + own, argv + argc);
  argc = own;
  std::vector<std::pair<const CLI::App*, RunCommand>> runs;
  for (const Command& command : commands()) {
    CLI::App* const added =
        app.add_subcommand(std::string(command.name), std::string(command.summary));
    added->group(std::string(command.group));
    added->allow_extras();  // refuse_extras
    added->footer(footer_of(command));
    runs.emplace_back(added, command.add(*added, called));
  }
  try {
    if (const auto help = help_asked_for(app, argc, argv); help.has_value()) {
      say(stdout, "{}", *help);
      return printed(kExitOk);
    }
    app.parse(argc, argv);
    const CLI::App* const chosen = app.get_subcommands().front();
    refuse_extras(*chosen);
    const auto run = std::find_if(runs.begin(), runs.end(),
                                  [chosen](const auto& each) { return each.first == chosen; });
    return run->second();
  } catch (const CLI::Success& asked) {  // --help, --version
    app.exit(asked);
    return printed(kExitOk);
  } catch (const CLI::ParseError& error) {
    return fail(kExitUsage, in_own_words(app, error));
  } catch (const InputError& error) {
    return fail(kExitUsage, error.what());
  } catch (const ReportError& error) {
    return fail(kExitNoReport, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kExitMachine, kTooLittleMemory);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(kExitMachine, error.path1().string() + ": " + error.code().message());
  } catch (const std::system_error& error) {
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
    return fail(kExitMachine, no_thread ? kNoThread : error.what());
  } catch (const std::exception& error) {  // MachineError, JournalError, and what nobody foresaw
    return fail(kExitMachine, error.what());
  }
}

}  // namespace mpsprobe
