// Holds docs/operations.md against what is built: an operation is written in several rooms, each in
// its own language, and whoever adds one is told here which of them lack it.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "reproducers/emit/emission.h"
#include "scenarios/sim/operations.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

const std::string kTable = MPSPROBE_SOURCE_DIR "/docs/operations.md";

// What has an operation: a worker, or a program that is emitted for it. Beside each, where it is
// written.
struct Place {
  std::string column;
  std::string written;
};
const Place kPlaces[] = {
    {"LibTorch", "scenarios/operations/table.cpp and the files that it names"},
    {"C++", "reproducers/emit/recipes.cpp: call"},
    {"Python", "reproducers/emit/recipes.cpp: python"},
    {"Metal", "scenarios/metal/recipe.cpp"},
    {"Metal program", "reproducers/emit/recipes.cpp: graph_build, or metal.cpp"},
    {"MLX", "scenarios/mlx: single_operations.cpp, models.cpp or lazy_operations.cpp"},
    {"MLX C++", "reproducers/emit/mlx.cpp: call"},
    {"MLX Python", "reproducers/emit/mlx.cpp: python"},
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const size_t first = cell.find_first_not_of(" `");
    cells.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(" `") + 1 - first));
  }
  return cells;
}

using Row = std::map<std::string, std::string>;

std::map<std::string, Row> table() {
  std::ifstream file(kTable);
  std::map<std::string, Row> rows;
  std::vector<std::string> head;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (head.empty()) {
      head = cells;
      continue;
    }
    Row row;
    for (size_t i = 1; i < head.size() && i < cells.size(); ++i) row[head[i]] = cells[i];
    rows[cells[0]] = row;
  }
  return rows;
}

class OperationsTable : public ProgramTest {
 protected:
  std::set<std::string> of_worker(const std::string& worker) const {
    const Run listed = mpsprobe({"list", "operations", "--json", "--worker", "it=" + worker});
    std::set<std::string> names;
    for (const auto& operation : nlohmann::json::parse(listed.out)) {
      const std::string name = operation.at("name");
      const bool delegated = operation.at("backends") == nlohmann::json::array({"metal"}) &&
                             worker != MPSPROBE_METAL_WORKER;
      if (!name.starts_with("selftest.") && !delegated) names.insert(name);
    }
    return names;
  }

  static bool is_emitted(const std::string& operation, Backend backend, Kind kind) {
    EmissionRequest request;
    request.cell.backend = backend;
    request.cell.op = operation;
    request.cell.threads = 2;
    request.programs = MPSPROBE_SOURCE_DIR "/reproducers/programs";
    for (const Emission& emission : emit(request)) {
      if (emission.kind == kind) return emission.possible();
    }
    return false;
  }
};

TEST_F(OperationsTable, SaysOfEachOperationWhichRoomsHaveIt) {
  std::map<std::string, std::set<std::string>> having;  // column, operations
  having["LibTorch"] = of_worker(MPSPROBE_TORCH_WORKER);
  having["Metal"] = of_worker(MPSPROBE_METAL_WORKER);
  having["MLX"] = of_worker(MPSPROBE_MLX_WORKER);
  std::set<std::string> all;
  for (const auto& [column, operations] : having) all.insert(operations.begin(), operations.end());
  for (const std::string& operation : all) {
    const std::tuple<const char*, Backend, Kind> kinds[] = {
        {"C++", Backend::mps, Kind::libtorch},
        {"Python", Backend::mps, Kind::python},
        {"Metal program", Backend::mps, Kind::metal},
        {"MLX C++", Backend::mlx, Kind::mlx},
        {"MLX Python", Backend::mlx, Kind::mlx_python}};
    for (const auto& [column, backend, kind] : kinds) {
      if (is_emitted(operation, backend, kind)) having[column].insert(operation);
    }
  }
  const std::map<std::string, Row> rows = table();
  for (const std::string& operation : all) {
    std::string lacking;
    for (const Place& place : kPlaces) {
      if (!having[place.column].contains(operation)) {
        lacking += "\n  " + place.column + ": " + place.written;
      }
    }
    if (!rows.contains(operation)) {
      ADD_FAILURE()
          << operation << " has no row in docs/operations.md. Rooms that lack it:" << lacking
          << "\nand what it encodes on the simulated device: scenarios/sim/operations.cpp";
      continue;
    }
    const Row& row = rows.at(operation);
    for (const Place& place : kPlaces) {
      const bool has = having[place.column].contains(operation);
      EXPECT_EQ(row.at(place.column), has ? "yes" : "")
          << operation << " in " << place.column << " (" << place.written << ")";
    }
    if (!lacking.empty()) {
      EXPECT_NE(row.at("why not"), "") << operation << " is lacking:" << lacking;
    }
  }
  for (const auto& [operation, row] : rows) {
    EXPECT_TRUE(all.contains(operation)) << operation << " is in docs/operations.md alone";
  }
}

TEST_F(OperationsTable, NamesWhatTheSimulatedDeviceEncodes) {
  for (const auto& [operation, row] : table()) {
    if (row.at("LibTorch") != "yes") continue;
    std::istringstream names(row.at("encodes"));
    int known = 0;
    for (std::string name; names >> name; ++known) {
      EXPECT_NE(sim::find_operation(name), nullptr)
          << operation << ": scenarios/sim/operations.cpp lacks " << name;
    }
    EXPECT_GT(known, 0) << operation;
  }
}

}  // namespace
}  // namespace mpsprobe
