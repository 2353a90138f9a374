#include "scenarios/observer/observed_program_for_tests.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace mpsprobe {

ObservedProgram observe_program(const std::vector<std::string>& arguments,
                                const std::vector<std::string>& environment) {
  const std::filesystem::path report =
      std::filesystem::temp_directory_path() / ("observed_program." + std::to_string(getpid()));
  std::filesystem::remove(report);
  std::vector<std::string> all = {"LD_PRELOAD=" MPSPROBE_OBSERVER,
                                  "MPSPROBE_OBSERVER_REPORT=" + report.string(),
                                  "ASAN_OPTIONS=handle_abort=0", "TSAN_OPTIONS=handle_abort=0"};
  all.insert(all.end(), environment.begin(), environment.end());
  ObservedProgram observed;
  observed.ended = run_command(arguments, 240, all);
  std::ifstream file(report);
  for (std::string line; std::getline(file, line);)
    observed.lines.push_back(nlohmann::json::parse(line));
  std::filesystem::remove(report);
  return observed;
}

}  // namespace mpsprobe
