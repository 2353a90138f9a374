#include "tools/runner/data_folder.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/input/near_name.h"
#include "harness/provenance/executable.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> json_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;  // no folder, no names
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path profiles_folder() {
  const char* own = std::getenv("MPSPROBE_PROFILES");  // where workers look, too
  return own != nullptr && *own != '\0' ? fs::path(own) : data_folder() / "profiles";
}

}  // namespace

fs::path data_folder() {
  return installation_folder() / "share" / "mpsprobe";
}

std::vector<std::string> matrix_names() {
  return json_names(data_folder() / "matrices");
}
std::vector<std::string> profile_names() {
  return json_names(profiles_folder());
}

std::string profile_description(const std::string& name) {
  std::ifstream stream(profiles_folder() / (name + ".json"));
  return text_at(nlohmann::json::parse(stream, nullptr, false), "description");
}

Matrix find_matrix(const std::string& name_or_file) {
  const std::vector<std::string> names = matrix_names();
  if (std::find(names.begin(), names.end(), name_or_file) != names.end()) {
    return load_matrix(data_folder() / "matrices" / (name_or_file + ".json"));
  }
  std::error_code error;
  if (!fs::exists(name_or_file, error)) {
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    throw InputError("--matrix " + shortened(printable(name_or_file), 200),
                     "is no built-in matrix and no file" + did_you_mean(name_or_file, names),
                     known.empty()
                         ? "The built-in matrices are missing beside the program: install it whole"
                         : "Built in are: " + known);
  }
  return load_matrix(name_or_file);
}

std::vector<KnownFailure> find_known_failures(const std::string& name_or_file) {
  const fs::path folder = data_folder() / "expectations";
  const std::vector<std::string> names = json_names(folder);
  const bool built_in = std::find(names.begin(), names.end(), name_or_file) != names.end();
  return parse_expectations(
      read_expectations_file(built_in ? folder / (name_or_file + ".json") : fs::path(name_or_file)),
      printable(name_or_file));
}

}  // namespace mpsprobe
