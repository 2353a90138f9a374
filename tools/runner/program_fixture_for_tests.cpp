#include "tools/runner/program_fixture_for_tests.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/executor/environment.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

}  // namespace

ProgramTest::ProgramTest()
    : program_(MPSPROBE_BINARY_DIR "/bin/mpsprobe"),
      selftest_("stock=" MPSPROBE_BINARY_DIR "/bin/mpsprobe-selftest-worker") {
  char pattern[] = "/tmp/mpsprobe-program-XXXXXX";
  folder_ = mkdtemp(pattern);
}

ProgramTest::~ProgramTest() {
  fs::remove_all(folder_);
}

ProgramTest::Run ProgramTest::mpsprobe(const std::vector<std::string>& arguments,
                                       double seconds) const {
  std::vector<std::string> command{program_};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const CommandResult result = run_command(command, seconds, inherited_environment());
  const auto* exited = std::get_if<Exited>(&result.termination);
  return {exited == nullptr ? -1 : exited->code, result.out, result.err};
}

ProgramTest::Run ProgramTest::shell(const std::string& command, double seconds) const {
  const std::string whole = "mpsprobe='" + program_ + "'; worker='" + selftest_ + "'; cd '" +
                            folder_.string() + "'; " + command;
  const CommandResult result =
      run_command({"/bin/sh", "-c", whole}, seconds, inherited_environment());
  const auto* exited = std::get_if<Exited>(&result.termination);
  return {exited == nullptr ? -1 : exited->code, result.out, result.err};
}

std::string ProgramTest::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return path(name);
}

std::string ProgramTest::read(const std::string& name) const {
  std::ifstream stream(folder_ / name, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> ProgramTest::with_slow_profiles(std::vector<std::string> arguments) const {
  const fs::path slow = folder_ / "slow";
  fs::create_directory(slow);
  for (const auto& file : fs::directory_iterator(MPSPROBE_SOURCE_DIR "/scenarios/sim/profiles")) {
    std::ifstream built_in(file.path());
    nlohmann::json profile = nlohmann::json::parse(built_in);
    for (nlohmann::json& defect : profile.at("defects")) defect["hold_us"] = 50000;
    std::ofstream(slow / file.path().filename()) << profile;
  }
  arguments.insert(arguments.end(), {"--env", "MPSPROBE_PROFILES=" + slow.string()});
  return arguments;
}

}  // namespace mpsprobe
