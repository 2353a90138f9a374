#include "reproducers/bundle/redaction/review.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "reproducers/bundle/redaction/pattern.h"
#include "reproducers/bundle/redaction/personal_patterns.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostPlaces = 200;
constexpr size_t kMostLine = 65536;

struct Wide {
  const char* what;
  Pattern pattern;
};

/// Wider than what is taken out: each is often nothing, and then costs a person a glance.
const std::vector<Wide>& wide() {
  static const std::vector<Wide> all = [] {
    std::vector<Wide> patterns;
    patterns.push_back(
        {"a word with @ in it",
         Pattern(R"re((?<![\w.])[A-Za-z][\w.+-]*@(?!GLIBC|CXXABI|rpath|plt)[A-Za-z][\w-]*)re")});
    patterns.push_back(
        {"a path that begins at the root of a disk",
         Pattern(
             R"re((?<![\w.~*/<:-])/(?!usr/|System/|Library/Apple|lib|bin/|dev/|proc/|AppleInternal/))re"
             R"re([A-Za-z][\w.-]*/[\w./-]+)re")});
    patterns.push_back(
        {"a long word that chance made",
         Pattern(
             R"re((?<![\w/+.-])(?=[A-Za-z0-9+/]*\d)(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[G-Z]))re"
             R"re((?!_?_?Z)(?![A-Za-z]+\d{1,3}[A-Za-z]*\b)[A-Za-z0-9+/]{24,}={0,2}(?![\w/+-]))re")});
    patterns.push_back({"a long number in groups",
                        Pattern(R"re((?<![\w.:/+-])\d{2,5}(?:[ -]\d{2,5}){2,5}(?![\w.:/-]))re")});
    return patterns;
  }();
  return all;
}

std::vector<LooksPersonal> of_file(const fs::path& file, const std::string& name) {
  std::vector<LooksPersonal> places;
  std::ifstream stream(file, std::ios::binary);
  size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    for (std::string& what :
         kinds_that_look_personal(std::string_view(line).substr(0, kMostLine))) {
      places.push_back({name, number, std::move(what)});
    }
    if (places.size() >= kMostPlaces) break;
  }
  return places;
}

}  // namespace

std::vector<std::string> kinds_that_look_personal(std::string_view line) {
  std::vector<std::string> kinds;
  const auto add = [&](std::string what) {
    if (std::find(kinds.begin(), kinds.end(), what) == kinds.end())
      kinds.push_back(std::move(what));
  };
  for (const PatternHit& hit : find_patterns(line)) add(std::string(hit.row));
  for (const Wide& each : wide()) {
    if (each.pattern.in(line)) add(each.what);
  }
  return kinds;
}

std::vector<LooksPersonal> what_looks_personal(const fs::path& folder) {
  constexpr std::array<std::string_view, 2> kOwnLists{"MANIFEST.sha256", "redactions.md"};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool own = std::find(kOwnLists.begin(), kOwnLists.end(), name) != kOwnLists.end();
    if (entry.is_regular_file() && !own) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<LooksPersonal> places;
  for (const fs::path& file : files) {
    for (LooksPersonal& place : of_file(file, file.lexically_relative(folder).generic_string())) {
      if (places.size() < kMostPlaces) places.push_back(std::move(place));
    }
  }
  return places;
}

}  // namespace mpsprobe
