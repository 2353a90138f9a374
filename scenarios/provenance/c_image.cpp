#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/input/json_text.h"
#include "scenarios/provenance/image.h"
#include "scenarios/worker/include/mpsprobe/numbers.h"

int mpsprobe_loaded_image(const char* name, char* json, size_t size) {
  const mpsprobe::LoadedImage image = mpsprobe::image_named(name);
  if (image.path.empty()) return 0;
  const std::string text =
      mpsprobe::json_text(nlohmann::json{{"path", mpsprobe::valid_utf8(image.path)},
                                         {"build_id", image.build_id},
                                         {"uuid", image.uuid},
                                         {"fingerprint", image.fingerprint}});
  if (text.size() >= size) return 0;
  std::memcpy(json, text.c_str(), text.size() + 1);
  return 1;
}
