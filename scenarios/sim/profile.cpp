#include "scenarios/sim/profile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "harness/input/input_error.h"

namespace mpsprobe::sim {
namespace {

using nlohmann::json;

constexpr size_t kMaximumBytes = 1 << 20;
constexpr size_t kMaximumText = 1000;
constexpr int kMaximumHold = 10'000'000;
constexpr int kMaximumEncode = 1'000'000;

// Of LibTorch's MPS backend (both names are in libtorch_cpu.dylib of 2.9.0 and of 2.15.0): what a
// process says by them decides whether a defect is there.
constexpr std::array<const char*, 2> kVariables{"PYTORCH_MPS_FAST_MATH",
                                                "PYTORCH_MPS_PREFER_METAL"};

std::string in_quotes(std::string_view text) {
  // Dumped as JSON, so that control characters of a hostile file stay harmless in a terminal.
  return json(std::string(text.substr(0, 60))).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// One object of the file: hands out typed values by key and, at the end, refuses what nobody asked
/// for.
class ObjectReader {
 public:
  ObjectReader(const json& value, std::string place) : place_(std::move(place)), value_(value) {
    if (!value.is_object()) fail("", "is not a JSON object", "Write { ... } here");
  }

  [[noreturn]] void fail(const std::string& key, const std::string& problem,
                         const std::string& remedy) const {
    throw InputError(key.empty() ? place_ : place_ + ": " + key, problem, remedy);
  }

  const json* find(const std::string& key) {
    asked_.insert(key);
    const auto found = value_.find(key);
    return found == value_.end() ? nullptr : &*found;
  }

  const json& require(const std::string& key, const std::string& form) {
    const json* found = find(key);
    if (found == nullptr) fail(key, "is missing", "Add it: " + form);
    return *found;
  }

  std::string text(const std::string& key, const json& value) const {
    if (!value.is_string()) fail(key, "is not a string", "Write it in quotes");
    std::string text = value.get<std::string>();
    if (text.size() > kMaximumText) fail(key, "is too long", "Use at most 1000 bytes");
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        fail(key, "contains a control character", "Write one line of plain text");
      }
    }
    return text;
  }

  /// False where it is missing.
  bool flag(const std::string& key) {
    const json* const value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fail(key, "is neither true nor false", "Write true or false");
    return value->get<bool>();
  }

  int integer(const std::string& key, const json& value, int minimum, int maximum) const {
    const std::string range =
        "Write a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
    if (!value.is_number_integer()) fail(key, "is not a whole number", range);
    // Unsigned values above the signed range would turn negative in a signed read.
    const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > INT32_MAX;
    if (huge || value.get<int64_t>() < minimum || value.get<int64_t>() > maximum) {
      fail(key, "is out of range: " + value.dump(), range);
    }
    return value.get<int>();
  }

  std::vector<std::string> texts(const std::string& key, const json& value) const {
    if (!value.is_array() || value.empty() || value.size() > 256) {
      fail(key, "is not a list of 1 to 256 strings", "Write [\"...\"]");
    }
    std::vector<std::string> result;
    for (size_t i = 0; i < value.size(); ++i) {
      result.push_back(text(key + "[" + std::to_string(i) + "]", value[i]));
      if (std::count(result.begin(), result.end(), result.back()) > 1) {
        fail(key, "names " + in_quotes(result.back()) + " twice", "Name it once");
      }
    }
    return result;
  }

  void refuse_unknown() const {
    for (const auto& [key, value] : value_.items()) {
      if (asked_.contains(key)) continue;
      fail("", "unknown key " + in_quotes(key),
           "Known here: " + join({asked_.begin(), asked_.end()}));
    }
  }

 private:
  std::string place_;
  const json& value_;
  std::set<std::string> asked_;
};

void read_ops(ObjectReader& reader, Defect& defect) {
  defect.ops = reader.texts("ops", reader.require("ops", "\"ops\": [\"linear\"] or [\"*\"]"));
  if (defect.ops == std::vector<std::string>{"*"}) return;
  for (const std::string& op : defect.ops) {
    if (op == "*")
      reader.fail("ops", "mixes \"*\" with names", "Use [\"*\"] alone, or names alone");
    if (is_known_name(op)) continue;
    std::vector<std::string> known;
    for (const Operation& operation : operations()) known.emplace_back(operation.name);
    reader.fail("ops", "no operation " + in_quotes(op) + " is encoded", "Known: " + join(known));
  }
}

void read_paths(ObjectReader& reader, Defect& defect) {
  const json* value = reader.find("paths");
  if (value == nullptr) return;
  for (const std::string& name : reader.texts("paths", *value)) {
    const std::optional<EncodePath> path = named<EncodePath>(name);
    if (!path || *path == EncodePath::none) {
      reader.fail("paths", "no path " + in_quotes(name) + " is encoded",
                  "Use graph, nograph, blit, or leave paths out for all of them");
    }
    defect.paths.push_back(*path);
  }
}

void read_beyond(ObjectReader& reader, Defect& defect) {
  const std::string name =
      reader.text("beyond", reader.require("beyond", "\"beyond\": \"null_dereference\""));
  const std::optional<Beyond> beyond = named<Beyond>(name);
  if (!beyond) {
    const auto& words = kWordsOf<Beyond>;
    reader.fail("beyond", "unknown kind " + in_quotes(name),
                "Known: " + join({words.begin(), words.end()}));
  }
  defect.beyond = *beyond;

  const bool speaks = defect.beyond == Beyond::assertion || defect.beyond == Beyond::exception;
  const json* text = reader.find("text");
  if (speaks && text == nullptr) {
    reader.fail("text", "is missing", "An assertion or exception needs the text that it prints");
  }
  if (!speaks && text != nullptr) {
    reader.fail("text", "means nothing for " + name, "Remove it");
  }
  if (text != nullptr) defect.text = reader.text("text", *text);
  if (speaks && defect.text.empty()) reader.fail("text", "is empty", "Write what is printed");

  const json* place = reader.find("place");
  if (place == nullptr) return;
  if (defect.beyond != Beyond::assertion) {
    reader.fail("place", "means nothing for " + name, "Remove it");
  }
  defect.place = reader.text("place", *place);
}

void read_env(ObjectReader& reader, Defect& defect) {
  const json* value = reader.find("env");
  if (value == nullptr) return;
  defect.env = reader.text("env", *value);
  const size_t equals = defect.env.find('=');
  const std::string name = defect.env.substr(0, equals);
  if (equals == std::string::npos || equals + 1 == defect.env.size()) {
    reader.fail("env", "is no variable with its value", "Write \"NAME=VALUE\"");
  }
  if (std::find(kVariables.begin(), kVariables.end(), name) == kVariables.end()) {
    reader.fail("env", "the simulated device reads no variable " + in_quotes(name),
                "Known: " + join({kVariables.begin(), kVariables.end()}));
  }
}

Defect read_defect(const json& value, const std::string& place) {
  ObjectReader reader(value, place);
  Defect defect;
  read_ops(reader, defect);
  read_paths(reader, defect);
  defect.slots = reader.integer("slots", reader.require("slots", "\"slots\": 2"), 0, 256);
  defect.hold_us =
      reader.integer("hold_us", reader.require("hold_us", "\"hold_us\": 200"), 0, kMaximumHold);
  read_beyond(reader, defect);
  if (const json* rate = reader.find("rate")) {
    const bool in_range = rate->is_number() && rate->get<double>() >= 0 && rate->get<double>() <= 1;
    if (!in_range) reader.fail("rate", "is no probability", "Write a number from 0 to 1");
    defect.rate = rate->get<double>();
  }
  defect.until_initialised = reader.flag("until_initialised");
  defect.once_warm = reader.flag("once_warm");
  if (defect.once_warm && defect.until_initialised) {
    reader.fail("once_warm", "and until_initialised leave no encode that is defective",
                "Remove one of them");
  }
  defect.one_object = reader.flag("one_object");
  defect.at_exit = reader.flag("at_exit");
  if (const json* from = reader.find("from_encode")) {
    defect.from_encode = reader.integer("from_encode", *from, 1, kMaximumEncode);
  }
  read_env(reader, defect);
  reader.refuse_unknown();
  return defect;
}

json parse_strictly(std::string_view text, const std::string& place) {
  // nlohmann keeps the last of repeated keys without a word; a person would not.
  std::vector<std::set<std::string>> keys;
  std::optional<std::string> repeated;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.empty()) {
      const std::string key = parsed.get<std::string>();
      if (!keys.back().insert(key).second && !repeated) repeated = key;
    }
    return true;
  };
  json document;
  try {
    document = json::parse(text, watch);
  } catch (const json::exception& error) {
    throw InputError(place, std::string("is not valid JSON: ") + error.what(),
                     "Correct it, or start from a profile that comes with mpsprobe");
  }
  if (repeated) {
    throw InputError(place, "key " + in_quotes(*repeated) + " appears twice in one object",
                     "Keep one of them");
  }
  return document;
}

std::string fnv1a64(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace

bool Defect::concerns(const Operation& operation, EncodePath path) const {
  if (path == EncodePath::none) return false;
  if (!paths.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) return false;
  return std::any_of(ops.begin(), ops.end(), [&](const std::string& op) {
    return op == "*" || op == operation.name || op == operation.kernel;
  });
}

bool Defect::in_this_environment() const {
  if (env.empty()) return true;
  const size_t equals = env.find('=');
  const char* const value = std::getenv(env.substr(0, equals).c_str());
  return value != nullptr && value == env.substr(equals + 1);
}

Profile parse_profile(std::string_view text, const std::string& place) {
  const json document = parse_strictly(text, place);
  ObjectReader reader(document, place);
  Profile profile;
  reader.integer("mpsprobe_profile", reader.require("mpsprobe_profile", "\"mpsprobe_profile\": 1"),
                 1, 1);
  profile.name = reader.text("name", reader.require("name", "\"name\": \"my-profile\""));
  const bool plain = !profile.name.empty() && profile.name.size() <= 64 &&
                     std::all_of(profile.name.begin(), profile.name.end(), [](unsigned char c) {
                       return std::isalnum(c) || c == '-' || c == '_' || c == '.';
                     });
  if (!plain) {
    reader.fail("name", "is not a plain name",
                "Use 1 to 64 letters, digits, dots, dashes and underscores");
  }
  if (const json* description = reader.find("description")) {
    profile.description = reader.text("description", *description);
  }
  if (const json* streams = reader.find("streams")) {
    const std::string name = reader.text("streams", *streams);
    if (name != "shared" && name != "per-thread") {
      reader.fail("streams", "unknown value " + in_quotes(name), "Use shared or per-thread");
    }
    profile.streams = name == "shared" ? Streams::shared : Streams::per_thread;
  }
  const json& defects = reader.require("defects", "\"defects\": [] for a clean device");
  if (!defects.is_array() || defects.size() > 256) {
    reader.fail("defects", "is not a list of at most 256 objects", "Write [ {...}, ... ]");
  }
  for (size_t i = 0; i < defects.size(); ++i) {
    profile.defects.push_back(
        read_defect(defects[i], place + ": defects[" + std::to_string(i) + "]"));
  }
  reader.refuse_unknown();
  profile.hash = fnv1a64(text);
  return profile;
}

Profile load_profile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    text.resize(kMaximumBytes + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    throw InputError(path, "cannot be read as a profile of the simulated device",
                     "Give the path of a JSON file, see docs/sim.md");
  }
  if (text.size() > kMaximumBytes) {
    throw InputError(path, "is larger than 1 MiB",
                     "A profile is a short JSON file, see docs/sim.md");
  }
  return parse_profile(text, path);
}

}  // namespace mpsprobe::sim
