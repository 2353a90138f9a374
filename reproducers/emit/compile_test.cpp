// Every program of every cell of the built-in matrices compiles, with warnings as errors. Those of
// one library are one file for the compiler, each in a namespace of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "harness/executor/environment.h"
#include "harness/matrix/expand.h"
#include "harness/process/command.h"
#include "harness/wire/split.h"
#include "reproducers/emit/emission.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

std::string without_numbers(std::string text) {
  for (char& c : text) c = c >= '0' && c <= '9' ? '0' : c;
  return text;
}

/// Programs of one language, each text once but for what is only another number.
class Programs {
 public:
  void add(const std::string& text) {
    std::string code;
    for (const std::string_view line : split(text, '\n')) {
      if (line.starts_with("//") || line.starts_with("# ")) continue;
      const bool includes = line.starts_with("#i") && line != "#include <metal_stdlib>";
      if (includes) {
        headers_.insert(std::string(line));
      } else {
        code.append(line) += '\n';
      }
    }
    if (shapes_.insert(without_numbers(code)).second) codes_.push_back(code);
  }
  size_t size() const { return codes_.size(); }
  std::string in_namespaces() const {
    std::string all;
    for (const std::string& header : headers_) all += header + '\n';
    for (size_t i = 0; i < codes_.size(); ++i) {
      all += "namespace program" + std::to_string(i) + " {\n" + codes_[i] + "}\n";
    }
    return all;
  }
  const std::vector<std::string>& codes() const { return codes_; }

 private:
  std::set<std::string> headers_, shapes_;
  std::vector<std::string> codes_;
};

/// Those of docs/operations.md, which a test holds against what workers have.
Operations all_operations() {
  Operations operations;
  std::ifstream table(MPSPROBE_SOURCE_DIR "/docs/operations.md");
  for (std::string line; std::getline(table, line);) {
    if (!line.starts_with("| `")) continue;
    OperationInfo operation;
    operation.name = line.substr(3, line.find('`', 3) - 3);
    operation.paths = {"default", "nograph", "graph"};
    operation.dtypes = {"float32", "float16", "bfloat16", "int32", "int64"};
    operation.has_parameters = true;
    operation.capturable = true;
    operations.emplace(operation.name, operation);
  }
  return operations;
}

std::map<Kind, Programs> programs_of_all_matrices() {
  const Operations operations = all_operations();
  std::map<Kind, Programs> all;
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(MPSPROBE_SOURCE_DIR "/scenarios/matrices")) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.find("selftest.") != std::string::npos) continue;  // there is no program of those
    for (const PlannedCell& planned :
         expand(load_matrix(entry.path()), operations, {.default_backend = Backend::mps}).cells) {
      Cell cell = planned.cell;
      cell.backend = Backend::sim;
      if (!seen.insert(without_numbers(to_string(cell))).second) continue;
      for (const Outcome outcome : {Outcome::signal, Outcome::wrong_result, Outcome::gpu_error}) {
        for (const Backend backend : {Backend::mps, Backend::mlx, Backend::metal}) {
          cell.backend = backend;
          const EmissionRequest request{.cell = cell,
                                        .outcome = outcome,
                                        .programs = MPSPROBE_SOURCE_DIR "/reproducers/programs"};
          for (const Emission& each : emit(request)) {
            if (!each.files.empty()) all[each.kind].add(each.files.front().text);
          }
        }
      }
    }
  }
  return all;
}

class CompileTest : public testing::Test {
 protected:
  static const std::map<Kind, Programs>& all() {
    static const std::map<Kind, Programs> kAll = programs_of_all_matrices();
    return kAll;
  }
  static CommandResult shell(const std::string& line) {
    return run_command({"/bin/sh", "-c", line}, 500, inherited_environment());
  }
  void compiles(const std::string& compiler, Kind kind, const std::string& flags,
                const std::string& extension) {
    const Programs& programs = all().at(kind);
    EXPECT_GT(programs.size(), 5U);
    std::ofstream(file_.string() + extension) << programs.in_namespaces();
    const CommandResult result =
        shell(compiler + " " + flags + " -std=c++20 -fsyntax-only -Wall -Wextra -Werror " +
              file_.string() + extension);
    EXPECT_EQ(result.termination, Termination(Exited{0}))
        << compiler << ": " << result.err.substr(0, 4000);
    fs::remove(file_.string() + extension);
  }
  /// By the compiler that builds us, and by clang where that is installed.
  void compiles_by_all(Kind kind, const std::string& flags) {
    compiles("c++", kind, flags, ".cpp");
    if (shell("command -v clang++").termination == Termination(Exited{0})) {
      compiles("clang++", kind, flags, ".cpp");
    }
  }
  const fs::path file_ = fs::path(testing::TempDir()) / ("programs-" + std::to_string(getpid()));
};

TEST_F(CompileTest, ProgramsInPythonDo) {
  for (const Kind kind : {Kind::python, Kind::mlx_python}) {
    const Programs& programs = all().at(kind);
    std::string list;
    for (size_t i = 0; i < programs.size(); ++i) {
      const std::string name = file_.string() + "-" + std::to_string(i) + ".py";
      std::ofstream(name) << programs.codes()[i];
      list += " " + name;
    }
    const CommandResult result =
        run_command({"/bin/sh", "-c",
                     "python3 -W error -c 'import sys\nfor f in sys.argv[1:]: "
                     "compile(open(f).read(), f, \"exec\")'" +
                         list + "; code=$?; rm -f" + list + "; exit $code"},
                    100, inherited_environment());
    EXPECT_EQ(result.termination, Termination(Exited{0})) << result.err;
  }
}

#ifdef MPSPROBE_TORCH_INCLUDE
TEST_F(CompileTest, ProgramsOnLibTorchDo) {
  compiles_by_all(Kind::libtorch, "-isystem " MPSPROBE_SOURCE_DIR
                                  "/scenarios/stand_in/include -isystem " MPSPROBE_TORCH_INCLUDE
                                  " -isystem " MPSPROBE_TORCH_INCLUDE "/torch/csrc/api/include");
}
#endif
#ifdef MPSPROBE_MLX_INCLUDE
TEST_F(CompileTest, ProgramsOnMlxDo) {
  compiles_by_all(Kind::mlx, "-isystem " MPSPROBE_MLX_INCLUDE);
}
#endif
#ifdef MPSPROBE_METAL_FLAGS
TEST_F(CompileTest, ProgramsOnMetalDo) {
  compiles("clang++", Kind::metal, MPSPROBE_METAL_FLAGS, ".mm");
}
#endif

}  // namespace
}  // namespace mpsprobe
