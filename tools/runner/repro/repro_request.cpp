#include "tools/runner/repro/repro_request.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/journal/trial_json.h"
#include "harness/wire/input_error.h"
#include "harness/wire/json_shape.h"
#include "reports/writers/atomic_file.h"

namespace mpsprobe {

using nlohmann::json;

void write_request(const std::filesystem::path& file, const MinimiseRequest& request) {
  const json object{{"mpsprobe_repro", 1},
                    {"signature", valid_utf8(request.signature)},
                    {"most_trials", request.most_trials},
                    {"patience", request.patience},
                    {"condition_trials", request.most_condition_trials},
                    {"conditions", request.conditions}};
  write_atomically(file, object.dump(2) + "\n", "nothing was run");
}

MinimiseRequest read_request(const std::filesystem::path& file) {
  const char* const remedy = "Begin a new minimisation";
  std::ifstream stream(file, std::ios::binary);
  MinimiseRequest request;
  try {
    const json object = json::parse(stream);
    if (object.at("mpsprobe_repro") != 1) {
      throw InputError(file.string(), "was written by another version of mpsprobe", remedy);
    }
    request.signature = object.at("signature");
    request.most_trials = object.at("most_trials");
    request.patience = object.at("patience");
    request.most_condition_trials = object.at("condition_trials");
    request.conditions = object.at("conditions");
  } catch (const json::exception& error) {
    throw InputError(file.string(),
                     std::string("is not what `mpsprobe repro` wrote: ") + json_problem(error),
                     remedy);
  }
  if (request.most_trials < 2 || request.patience < 1 || request.most_condition_trials < 1) {
    throw InputError(file.string(), "holds a limit that makes no sense", remedy);
  }
  return request;
}

}  // namespace mpsprobe
