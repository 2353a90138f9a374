#include "tools/runner/request_file.h"

#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "reports/writers/atomic_file.h"

namespace mpsprobe {

using nlohmann::json;

constexpr size_t kMostBytes = size_t{1} << 20;

void write_request_file(const std::filesystem::path& folder, const json& object) {
  write_atomically(folder / kRequestFile, json_text(object, 2) + "\n", "nothing was run");
}

void read_request_file(const std::filesystem::path& folder, const std::string& kind,
                       const std::string& where, const std::string& what,
                       const std::function<void(const json&)>& take) {
  const std::filesystem::path file = folder / kRequestFile;
  const std::string remedy = "Name the folder of a " + what + " that was cut short";
  if (!open_plain_file(file).is_open()) throw InputError(where, "holds no " + what, remedy);
  try {
    const json object = parsed_json(read_input_file(file, kMostBytes, remedy));
    if (object.at(kind) != 1) {
      throw InputError(where, "was written by another version of mpsprobe", "Begin a new one");
    }
    take(object);
  } catch (const json::exception& error) {
    throw InputError(where, std::string("its request.json is damaged: ") + json_problem(error),
                     remedy);
  }
}

}  // namespace mpsprobe
