#include "tools/runner/run/run_origin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "harness/input/input_error.h"
#include "harness/wire/variables.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/archive.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostShown = 300;

/// What no other machine has: a stranger who writes a journal does not know it.
std::string machine_identity() {
#ifdef __APPLE__
  unsigned char id[16];
  const timespec longest{5, 0};
  if (gethostuuid(id, &longest) == 0) return fmt::format("{:02x}", fmt::join(id, ""));
#else
  std::ifstream stream("/etc/machine-id");
  std::string line;
  if (std::getline(stream, line) && line.size() >= 32) return line;
#endif
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

std::string origin_of(const fs::path& folder) {
  std::error_code error;
  fs::path whole = fs::weakly_canonical(fs::absolute(folder, error), error);
  if (!whole.has_filename()) whole = whole.parent_path();
  return sha256(fmt::format("mpsprobe\n{}\n{}\n{}", machine_identity(), geteuid(), whole.string()));
}

bool made_here(const std::string& origin, const fs::path& folder) {
  return !origin.empty() && origin == origin_of(folder);
}

void refuse_foreign(const CampaignHeader& header, const fs::path& folder, const std::string& place,
                    const std::string& remedy) {
  WouldStart what;
  for (const WorkerInfo& worker : header.workers) {
    what.programs.push_back(fmt::format("worker {}: {}", worker.name, worker.path));
  }
  what.environment = header.environment;
  for (const std::string& value : header.cells.values_named("env")) {
    for (const auto& [name, set] : parse_variables(value)) {
      if (!is_documented_switch(name)) what.environment.push_back(name + "=" + set);
    }
  }
  refuse_foreign(header.origin, folder, what, place, remedy);
}

void refuse_foreign(const std::string& origin, const fs::path& folder, const WouldStart& what,
                    const std::string& place, const std::string& remedy) {
  if (made_here(origin, folder)) return;
  std::string problem =
      "was made on another machine, by another account or in another folder, or does not say "
      "where. It would start";
  for (const std::string& program : what.programs) {
    problem += "\n    " + shortened(printable(program), kMostShown);
  }
  for (const std::string& variable : what.environment) {
    problem += "\n    with " + shortened(printable(variable), kMostShown);
  }
  throw InputError(printable(place), problem + "\nNothing was started", remedy);
}

void say_left_out_variables(const std::vector<std::string>& environment) {
  if (environment.empty()) return;
  say(stderr,
      "mpsprobe: the run was made elsewhere, so its variables are left out: {}. --env sets them, "
      "--trust-run takes them all\n",
      shortened(printable(fmt::format("{}", fmt::join(environment, ", "))), kMostShown));
}

}  // namespace mpsprobe
