#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/input/json_text.h"
#include "scenarios/command/command.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 65536;

// Its interpreter looks, since names of distributions depend on where it would look for them.
// Without the folder that it runs in, whose files could be of the same names as its modules.
constexpr const char* kLook = R"('
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import ast, json, os, platform
from importlib import metadata
tree = ast.parse(open(os.environ["MPSPROBE_SCRIPT"], "rb").read())
names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
names = {name.split(".")[0] for name in names}
packages = {}
for name, distributions in getattr(metadata, "packages_distributions", dict)().items():
    if name in names:
        packages.update((each, metadata.version(each)) for each in distributions)
found = {"python": {"implementation": platform.python_implementation(), "version": platform.python_version(),
                    "packages": packages}}
for name in ("mlx", "torch"):
    if name in names:
        found[name] = {"version": metadata.version(name)}
        break
print(json.dumps(found))
')";

bool is_python(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  return name.starts_with("python") || name.starts_with("pypy");
}

std::string script_of(const OwnCommand& command) {
  for (size_t i = 1; i < command.words.size(); ++i) {
    const fs::path file = fs::path(command.folder) / command.words[i];
    std::error_code error;  // what cannot be looked at is no script
    if (command.words[i].ends_with(".py") && fs::is_regular_file(file, error)) return file.string();
  }
  return "";
}

}  // namespace

nlohmann::json python_packages(const OwnCommand& command) {
  const std::string script = script_of(command);
  const std::string interpreter = program_path(command.words.front(), command.folder);
  if (!is_python(command.words.front()) || script.empty() || interpreter.empty())
    return nlohmann::json::object();
  setenv("MPSPROBE_SCRIPT", script.c_str(), 1);
  setenv("MPSPROBE_INTERPRETER", interpreter.c_str(), 1);
  const std::string look =
      std::string("\"$MPSPROBE_INTERPRETER\" -c ") + kLook + " 2> /dev/null < /dev/null";
  std::string answer;
  if (FILE* const pipe = popen(look.c_str(), "r"); pipe != nullptr) {
    char buffer[4096];
    size_t got = 0;
    while ((got = fread(buffer, 1, sizeof(buffer), pipe)) > 0 && answer.size() < kMostBytes)
      answer.append(buffer, got);
    if (pclose(pipe) != 0) answer.clear();
  }
  unsetenv("MPSPROBE_SCRIPT");
  unsetenv("MPSPROBE_INTERPRETER");
  nlohmann::json found = parsed_if_json(answer);
  return found.is_object() ? found : nlohmann::json::object();
}

}  // namespace mpsprobe
