#include "harness/wire/loaded_library.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

// Key of the provenance, and what people call it. A process has one of them.
constexpr std::pair<const char*, const char*> kLibraries[] = {{"torch", "LibTorch"},
                                                              {"mlx", "MLX"}};

// An environment has some hundreds; a worker may claim any number.
constexpr size_t kMostPackages = 1000;

const json kNone;

std::pair<const json*, const char*> find_library(const json& provenance) {
  for (const auto& [key, name] : kLibraries) {
    if (const json& found = member(provenance, key); found.is_object()) return {&found, name};
  }
  return {&kNone, ""};
}

// What of an interpreter tells one build of it from another. Whether its lock is in force is chosen
// by a variable.
constexpr const char* kInterpreter[] = {"implementation", "version", "build", "free_threaded"};

std::string interpreter_in_words(const json& provenance) {
  const json& object = member(provenance, "python");
  const std::string name = text_at(object, "implementation");
  if (name.empty()) return "";
  const bool free = member(object, "free_threaded") == true;
  return name + " " + text_at(object, "version") + (free ? ", free-threaded" : "");
}

}  // namespace

LibraryUnderTest library_under_test(const json& provenance) {
  const auto [object, name] = find_library(provenance);
  LibraryUnderTest library{name,
                           text_at(*object, "version"),
                           text_at(*object, "git_hash"),
                           text_at(*object, "path"),
                           text_at(*object, "build_id"),
                           {},
                           interpreter_in_words(provenance)};
  if (library.build_id.empty()) library.build_id = text_at(*object, "uuid");
  const json& pool = member(*object, "has_mps_stream_pool");
  if (pool.is_boolean()) library.stream_pool = pool.get<bool>();
  const json& python = member(provenance, "python");
  if (const json& packages = member(python, "packages"); packages.is_object()) {
    for (const auto& [package, version] : packages.items()) {
      if (library.packages.size() == kMostPackages) break;
      library.packages.push_back(package + " " +
                                 (version.is_string() ? version.get<std::string>() : "?"));
    }
  }
  return library;
}

const json& library_object(const json& provenance) {
  return *find_library(provenance).first;
}

std::string library_identity(const json& provenance) {
  const json& object = library_object(provenance);
  std::string identity;
  if (!object.is_object()) return identity;
  for (const char* key : {"version", "git_hash", "path", "build_id", "uuid", "fingerprint"}) {
    if (object.contains(key)) identity += std::string(key) + "=" + json_text(object.at(key)) + " ";
  }
  const json& python = member(provenance, "python");
  for (const char* key : kInterpreter) {
    if (python.is_object() && python.contains(key)) {
      identity += std::string("python.") + key + "=" + json_text(python.at(key)) + " ";
    }
  }
  // Two builds may differ in nothing but what --probe asked for.
  if (provenance.contains("symbols")) {
    identity += "symbols=" + json_text(provenance.at("symbols")) + " ";
  }
  return identity;
}

std::string changed_code(const json& before, const json& now) {
  // A command's files are told apart by size and time, which are short.
  const auto shown = [](const std::string& told) {
    constexpr size_t kDigest = 64;
    if (told.size() == kDigest) return "SHA-256 " + told.substr(0, 12) + "...";
    return told.empty() ? "not told" : told;
  };
  const json& files = member(before, "code");
  const json& others = member(now, "code");
  if (!files.is_object() || !others.is_object()) return "";
  for (const auto& [path, digest] : files.items()) {
    const std::string was = text_at(files, path.c_str());
    const std::string is = text_at(others, path.c_str());
    if (was == is) continue;
    return path.substr(path.rfind('/') + 1) + " was changed: it was " + shown(was) + " and is " +
           shown(is);
  }
  return "";
}

std::string in_words(const LibraryUnderTest& library) {
  if (library.name.empty()) {
    constexpr size_t kShown = 3;
    const size_t shown = std::min(library.packages.size(), kShown);
    std::string text;
    for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + library.packages[i];
    if (library.packages.size() > shown) {
      text += " and " + std::to_string(library.packages.size() - shown) + " more";
    }
    if (library.interpreter.empty()) return text.empty() ? "no library" : text;
    return text + (text.empty() ? "" : " in ") + library.interpreter;
  }
  return library.name + (library.version.empty() ? " of unknown version" : " " + library.version) +
         (library.interpreter.empty() ? "" : " in " + library.interpreter);
}

}  // namespace mpsprobe
