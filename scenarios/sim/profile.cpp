#include "scenarios/sim/profile.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/input/input_file.h"
#include "harness/input/near_name.h"
#include "harness/input/placed_json.h"
#include "harness/wire/ascii.h"

namespace mpsprobe::sim {
namespace {

using nlohmann::json;

constexpr size_t kMaximumBytes = 1 << 20;
constexpr size_t kMaximumText = 1000;
constexpr size_t kMaximumList = 256;
constexpr int kMaximumHold = 10'000'000;
constexpr int kMaximumEncode = 1'000'000;

// Of LibTorch's MPS backend (both names are in libtorch_cpu.dylib of 2.9.0 and of 2.15.0): what a
// process says by them decides whether a defect is there.
constexpr std::array<std::string_view, 2> kVariables{"PYTORCH_MPS_FAST_MATH",
                                                     "PYTORCH_MPS_PREFER_METAL"};

constexpr std::string_view kFormat = "docs/sim.md tells what a profile holds";

/// One line of plain text.
std::string line(const PlacedJson& at) {
  const std::string text = at.text();
  if (text.size() > kMaximumText) at.fail("is too long", "Use at most 1000 bytes");
  const auto controls = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), controls)) {
    at.fail("contains a control character", "Write one line of plain text");
  }
  return text;
}

/// A list of texts, each given to `read` with its place.
template <typename Read>
auto list(const PlacedJson& at, const Read& read) {
  std::vector<decltype(read(at))> all;
  for (const PlacedJson& item : at.items()) {
    all.push_back(read(item));
    if (std::count(all.begin(), all.end(), all.back()) > 1)
      item.fail("is there twice", "Name it once");
  }
  if (all.empty() || all.size() > kMaximumList) {
    at.fail("is not a list of 1 to 256 texts", "Write [\"...\"]");
  }
  return all;
}

std::string operation(const PlacedJson& at) {
  const std::string name = line(at);
  if (name == "*" || is_known_name(name)) return name;
  std::vector<std::string_view> known;
  for (const Operation& each : operations()) known.push_back(each.name);
  at.fail("no operation of this name is encoded" + did_you_mean(name, known),
          "Known: " + listed(known));
}

EncodePath path(const PlacedJson& at) {
  const std::optional<EncodePath> path = named<EncodePath>(at.text());
  if (!path || *path == EncodePath::none) {
    at.fail("no such path is encoded",
            "Use graph, nograph, blit, or leave paths out for all of them");
  }
  return *path;
}

Beyond beyond(const PlacedJson& at) {
  const std::optional<Beyond> beyond = named<Beyond>(at.text());
  if (!beyond) at.fail("is no kind of defect", "Known: " + listed(kWordsOf<Beyond>));
  return *beyond;
}

std::string variable(const PlacedJson& at) {
  const std::string text = line(at);
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) {
    at.fail("is no variable with its value", "Write \"NAME=VALUE\"");
  }
  if (std::find(kVariables.begin(), kVariables.end(), text.substr(0, equals)) == kVariables.end()) {
    at.fail("the simulated device reads no such variable", "Known: " + listed(kVariables));
  }
  return text;
}

Defect read_defect(const PlacedJson& at) {
  at.allow({"ops", "paths", "slots", "hold_us", "beyond", "text", "place", "rate",
            "until_initialised", "once_warm", "one_object", "at_exit", "from_encode", "env"});
  const auto flag = [&at](const char* key) { return at.has(key) && at.at(key).flag(); };
  Defect defect;
  defect.ops = list(at.at("ops"), operation);
  if (defect.ops.size() > 1 && std::count(defect.ops.begin(), defect.ops.end(), "*") > 0) {
    at.at("ops").fail("mixes \"*\" with names", "Use [\"*\"] alone, or names alone");
  }
  if (at.has("paths")) defect.paths = list(at.at("paths"), path);
  defect.slots = at.at("slots").count(0, 256);
  defect.hold_us = at.at("hold_us").count(0, kMaximumHold);
  defect.beyond = beyond(at.at("beyond"));
  const bool speaks = defect.beyond == Beyond::assertion || defect.beyond == Beyond::exception;
  if (speaks) defect.text = line(at.at("text"));
  if (speaks && defect.text.empty()) at.at("text").fail("is empty", "Write what is printed");
  const bool has_place = defect.beyond == Beyond::assertion;
  if (has_place && at.has("place")) defect.place = line(at.at("place"));
  for (const auto& [key, wanted] : {std::pair("text", speaks), std::pair("place", has_place)}) {
    if (!wanted && at.has(key)) at.at(key).fail("means nothing for this kind", "Remove it");
  }
  if (at.has("rate")) defect.rate = at.at("rate").number(0, 1);
  defect.until_initialised = flag("until_initialised");
  defect.once_warm = flag("once_warm");
  if (defect.once_warm && defect.until_initialised) {
    at.at("once_warm")
        .fail("and until_initialised leave no encode that is defective", "Remove one of them");
  }
  defect.one_object = flag("one_object");
  defect.at_exit = flag("at_exit");
  if (at.has("from_encode")) defect.from_encode = at.at("from_encode").count(1, kMaximumEncode);
  if (at.has("env")) defect.env = variable(at.at("env"));
  return defect;
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
  const json document = parse_once_keyed(text, place);
  const PlacedJson whole(document, place, kFormat);
  whole.allow({"mpsprobe_profile", "name", "description", "streams", "defects"});
  whole.at("mpsprobe_profile").count(1, 1);
  Profile profile;
  profile.name = line(whole.at("name"));
  if (profile.name.empty() || profile.name.size() > 64 || !ascii::all_plain(profile.name)) {
    whole.at("name").fail("is not a plain name",
                          "Use 1 to 64 letters, digits, dots, dashes and underscores");
  }
  if (whole.has("description")) profile.description = line(whole.at("description"));
  if (whole.has("streams")) {
    const std::string name = whole.at("streams").text();
    if (name != "shared" && name != "per-thread") {
      whole.at("streams").fail("is no way to share them", "Use shared or per-thread");
    }
    profile.streams = name == "shared" ? Streams::shared : Streams::per_thread;
  }
  for (const PlacedJson& defect : whole.at("defects").items()) {
    profile.defects.push_back(read_defect(defect));
  }
  if (profile.defects.size() > kMaximumList) {
    whole.at("defects").fail("has more than 256 defects", "Leave some out");
  }
  profile.hash = fnv1a64(text);
  return profile;
}

Profile load_profile(const std::string& path) {
  return parse_profile(
      read_input_file(path, kMaximumBytes, "A profile is a short JSON file, see docs/sim.md"),
      path);
}

}  // namespace mpsprobe::sim
