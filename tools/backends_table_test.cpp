// Holds what is written of backends outside their table (harness/wire/backend.h) against it:
// whoever adds one is told here which places lack it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/axis.h"
#include "harness/wire/backend.h"
#include "harness/wire/honoured_axes.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = MPSPROBE_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Where a backend has to stand, and how it stands there; # is its name.
struct Place {
  const char* file;  ///< or a folder, of whose sources one is enough
  const char* before;
  const char* after;
  const char* what;
};
const Place kPlaces[] = {
    {"docs/matrices.md", "`", "`", "what the axis backend means"},
    {"docs/protocol.md", "`", "`", "what a worker says of it"},
    {"scenarios/backends/backend.cpp", "Backend::", ":", "which code, or which worker, opens it"},
    {"scenarios", "Backend::", "", "the worker that has it"},
};

bool stands(const std::string& text, const Place& place, const std::string& name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at + name.size());
    const bool named = std::string_view(text).substr(0, at).ends_with(place.before);
    if (named && rest.starts_with(place.after)) return true;
  }
  return false;
}

// The places that lack a backend of this name.
std::vector<std::string> lacking(const std::string& name) {
  std::vector<std::string> places;
  for (const Place& place : kPlaces) {
    bool there = false;
    if (fs::is_directory(kSource / place.file)) {
      for (const auto& entry : fs::recursive_directory_iterator(kSource / place.file)) {
        const std::string file = entry.path().filename().string();
        const bool source = file.ends_with(".cpp") && file != "backend.cpp" &&
                            !file.ends_with("_test.cpp") && !file.ends_with("_bench.cpp");
        there = there || (source && stands(text_of(entry.path()), place, name));
      }
    } else {
      there = stands(text_of(kSource / place.file), place, name);
    }
    if (!there) places.push_back(std::string(place.file) + ": " + place.what);
  }
  return places;
}

TEST(BackendsTable, EachBackendStandsWhereverBackendsAreListed) {
  for (const BackendInfo& row : backend_table::kRows) {
    EXPECT_THAT(lacking(std::string(row.name)), testing::IsEmpty()) << "of " << row.name;
  }
}

TEST(BackendsTable, ANewOneIsToldEveryPlace) {
  EXPECT_THAT(lacking("abacus"), testing::SizeIs(std::size(kPlaces)));
}

// The sources of our workers in which a cell's axes are read: those of the loop, and of a backend's
// lanes.
const std::vector<fs::path> kLoopSources{"scenarios/worker", "scenarios/threads"};
const std::map<Backend, std::vector<fs::path>> kLaneSources{
    {Backend::mps,
     {"scenarios/operations/torch_workload.cpp", "scenarios/backends/mps.cpp",
      "scenarios/stand_in/mps_machine.cpp", "scenarios/worker/observation.cpp"}},
    {Backend::mlx, {"scenarios/mlx"}},
    {Backend::metal, {"scenarios/metal", "scenarios/worker/observation.cpp"}},
    {Backend::cuda, {"scenarios/operations/torch_workload.cpp", "scenarios/cuda/device.cpp"}},
    {Backend::cpu, {"scenarios/operations/torch_workload.cpp", "scenarios/backends/cpu.cpp"}},
    {Backend::sim, {"scenarios/operations/torch_workload.cpp", "scenarios/backends/sim.cpp"}},
    {Backend::command, {"scenarios/command"}},
};

std::string text_below(const std::vector<fs::path>& places) {
  std::string text;
  for (const fs::path& place : places) {
    if (!fs::is_directory(kSource / place)) {
      text += text_of(kSource / place);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(kSource / place)) {
      const std::string file = entry.path().filename().string();
      const bool tries = file.find("_test.") != std::string::npos || file.ends_with("_bench.cpp");
      if (entry.is_regular_file() && !tries) text += text_of(entry.path());
    }
  }
  return text;
}

// Whether a source reads a cell's axis: `cell.threads`, `cell_.threads`.
bool reads(const std::string& text, std::string_view axis) {
  return std::regex_search(text, std::regex("cell_?\\." + std::string(axis) + "\\b"));
}

// A worker that says that it honours an axis which it does not read runs a cell as if.
TEST(BackendsTable, AnAxisIsReadByWhoeverHonoursIt) {
  const std::string loop = text_below(kLoopSources);
  for (const std::string_view axis : loop_axes()) EXPECT_TRUE(reads(loop, axis)) << axis;
  for (const BackendInfo& row : backend_table::kRows) {
    const std::string lanes = text_below(kLaneSources.at(row.backend));
    for (const std::string_view axis : lane_axes(row.backend)) {
      EXPECT_TRUE(reads(lanes, axis)) << axis << " on " << row.name;
    }
  }
}

// Whoever adds or removes an axis is told of it here.
TEST(BackendsTable, EachAxisIsHonouredBySomebody) {
  std::set<std::string_view> honoured(runner_axes().begin(), runner_axes().end());
  honoured.insert("sanitizer");  // by the builds of workers that ThreadSanitizer watches
  for (const BackendInfo& row : backend_table::kRows) {
    for (const std::string_view axis : honoured_axes(row.backend)) honoured.insert(axis);
  }
  for (const Axis& axis : axes()) {
    EXPECT_EQ(honoured.erase(axis.name), 1U) << axis.name << " is read by nobody: see "
                                             << "harness/wire/backend.h";
  }
  EXPECT_THAT(honoured, testing::IsEmpty()) << "no axes";
}

}  // namespace
}  // namespace mpsprobe
