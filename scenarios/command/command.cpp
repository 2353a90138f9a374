#include "scenarios/command/command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "harness/input/near_name.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostName = 40;  // of an operation, docs/protocol.md

/// What runs a program that its arguments name.
constexpr std::array<std::string_view, 16> kLaunchers{
    "python", "pypy", "sh",   "bash", "zsh",    "env",     "node",     "ruby",
    "perl",   "uv",   "lldb", "gdb",  "mpirun", "mpiexec", "torchrun", "accelerate"};

bool launches_another(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  return std::any_of(kLaunchers.begin(), kLaunchers.end(), [&](std::string_view launcher) {
    // python3.12 is python.
    return name.starts_with(launcher) &&
           name.find_first_not_of("0123456789.", launcher.size()) == std::string::npos;
  });
}

/// Calls `take` with what stands before each "{name}" and with the name; the rest has no name.
template <typename Take>
void each_parameter(std::string_view word, Take take) {
  size_t done = 0;
  for (size_t open = word.find('{'); open != std::string_view::npos;
       open = word.find('{', open + 1)) {
    const size_t close = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", open + 1);
    if (close == std::string_view::npos || word[close] != '}' || close == open + 1) continue;
    take(word.substr(done, open - done), word.substr(open + 1, close - open - 1));
    done = close + 1;
    open = close;
  }
  take(word.substr(done), std::string_view());
}

}  // namespace

std::string filled_in(std::string_view word, const Parameters& parameters) {
  std::string filled;
  each_parameter(word, [&](std::string_view before, std::string_view name) {
    filled += before;
    if (name.empty()) return;
    const auto at = parameters.find(name);
    filled += at == parameters.end() ? "{" + std::string(name) + "}" : at->second;
  });
  return filled;
}

std::string mistyped_parameter(const OwnCommand& command, const std::vector<std::string>& known) {
  std::string found;
  for (const std::string& word : command.words) {
    each_parameter(word, [&](std::string_view, std::string_view name) {
      const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
      if (name.empty() || is_known || !found.empty()) return;
      const std::string meant = did_you_mean(name, known);
      if (!meant.empty()) found = "{" + std::string(name) + "}" + meant;
    });
  }
  return found;
}

std::string operation_name(const OwnCommand& command) {
  std::string name = command.words.front();
  if (launches_another(name)) {
    for (size_t i = 1; i < command.words.size(); ++i) {
      const std::string& word = command.words[i];
      std::error_code error;  // what cannot be looked at is no script
      const bool module = word == "-m" && i + 1 < command.words.size();
      if (!module &&
          (word.starts_with('-') || !fs::is_regular_file(fs::path(command.folder) / word, error))) {
        continue;
      }
      name = module ? command.words[i + 1] : word;
      break;
    }
  }
  name = fs::path(name).filename().string();
  for (char& letter : name) {
    const auto plain = static_cast<unsigned char>(letter);
    const bool kept = plain < 0x80 && (std::isalnum(plain) != 0 || letter == '.');
    letter = kept ? static_cast<char>(std::tolower(plain)) : '_';
  }
  return name.substr(0, kMostName);
}

std::string program_path(const std::string& program, const std::string& folder) {
  std::error_code error;
  const auto runs = [&error](const fs::path& path) {
    return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, error);
  };
  if (program.find('/') != std::string::npos) {
    const fs::path path = fs::path(folder) / program;
    return runs(path) ? path.string() : "";
  }
  const char* const list = std::getenv("PATH");
  std::istringstream folders(list == nullptr ? "" : list);
  for (std::string each; std::getline(folders, each, ':');) {
    const fs::path path = fs::path(folder) / each / program;
    if (runs(path)) return path.string();
  }
  return "";
}

}  // namespace mpsprobe
