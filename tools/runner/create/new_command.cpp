#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "tools/runner/command.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/option_check.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

/// What `mpsprobe new` was asked for.
struct NewOptions {
  std::string program;  ///< as it was called, for the commands that are printed
  std::string what;     ///< "worker"
  std::string folder = "my-worker";
};

namespace fs = std::filesystem;

constexpr const char* kFiles[] = {"CMakeLists.txt", "worker.c"};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream || text.str().empty()) {
    throw MachineError(
        fmt::format("{} cannot be read: mpsprobe's data are not whole. Install it again",
                    printable(file.string())));
  }
  return text.str();
}

/// Makes the folder where there is none; whether it did.
bool make_folder(const fs::path& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) {
    throw MachineError(fmt::format("{} cannot be made: {}. Name another folder",
                                   printable(folder.string()), error.message()));
  }
  if (!made && !fs::is_empty(folder, error)) {
    throw InputError("new worker " + printable(folder.string()), "holds files already",
                     "Name a folder that is not there yet");
  }
  return made;
}

void say_next(const NewOptions& options) {
  const fs::path built = fs::path(options.folder) / "build";
  const std::string worker = "mine=" + (built / "worker").string();
  const std::vector<std::vector<std::string>> steps{
      {"cmake", "-S", options.folder, "-B", built.string(),
       "-Dmpsprobe_DIR=" + (data_folder() / "cmake").string()},
      {"cmake", "--build", built.string()},
      {options.program, "run", "--worker", worker, "--op", "twice", "--threads", "1-8"}};
  say(stdout, "{} holds a worker in C. Build it and run it:\n\n", printable(options.folder));
  for (const std::vector<std::string>& step : steps) say(stdout, "  {}\n", shell_command(step));
  say(stdout, "\nThen put your library's calls into {}.\n",
      printable((fs::path(options.folder) / "worker.c").string()));
}

void add_new_options(CLI::App& app, NewOptions& options) {
  app.add_option("what", options.what, "worker: a program in C for operations of your own")
      ->required()
      ->check(one_of({"worker"}))
      ->type_name("WHAT");
  app.add_option("folder", options.folder, "where to put it; must not hold anything")
      ->type_name("DIR")
      ->capture_default_str();
}

/// Writes a template and prints what to do with it. Returns the exit code. Throws InputError where
/// the folder holds something, MachineError where it cannot be written: then nothing of it stays.
int new_command_line(const NewOptions& options) {
  const fs::path folder = options.folder;
  std::vector<std::string> texts;
  for (const char* file : kFiles) texts.push_back(text_of(data_folder() / "worker" / file));
  const bool made = make_folder(folder);
  try {
    for (size_t i = 0; i < texts.size(); ++i) {
      write_atomically(folder / kFiles[i], texts[i], "`mpsprobe new worker` writes it again");
    }
  } catch (const ReportError& error) {
    std::error_code ignored;
    for (const char* file : kFiles) fs::remove(folder / file, ignored);
    if (made) fs::remove(folder, ignored);
    throw MachineError(error.what());
  }
  say_next(options);
  return kExitOk;
}

}  // namespace

RunCommand add_new(CLI::App& app, const Called& called) {
  NewOptions begin;
  begin.program = called.words.front();
  return bound(app, add_new_options, new_command_line, begin);
}

}  // namespace mpsprobe
