// The programs that the gallery shows are those that are handed on today.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "reproducers/emit/emission.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
const fs::path kShown = MPSPROBE_SOURCE_DIR "/docs/gallery/simulated-bundle/programs";

std::string shown(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The cell, and what failed: the first two lines of each program.
EmissionRequest request_of(const std::string& python) {
  const size_t first = python.find('\n');
  const size_t second = python.find('\n', first + 1);
  EXPECT_NE(second, std::string::npos);
  EmissionRequest request{.cell = parse_cell(python.substr(2, first - 2)),
                          .programs = MPSPROBE_SOURCE_DIR "/reproducers/programs"};
  request.watermark = simulated_watermark(request.cell);
  const std::string said = python.substr(first + 3, second - first - 3);
  EXPECT_THAT(said, testing::StartsWith(request.watermark + " "));
  request.signature = said.substr(std::min(said.size(), request.watermark.size() + 1));
  return request;
}

TEST(Gallery, ShowsTheProgramsThatAreHandedOnToday) {
  size_t compared = 0;
  for (const Emission& emission : emit(request_of(shown(kShown / "python/reproducer.py")))) {
    if (!emission.possible()) continue;
    for (const EmittedFile& file : emission.files) {
      const fs::path place = kShown / std::string(name_of(emission.kind)) / file.name;
      EXPECT_EQ(shown(place), file.text)
          << place << " is not what is handed on today. tools/gallery makes the bundle again";
      ++compared;
    }
  }
  EXPECT_EQ(compared, 4U);
}

}  // namespace
}  // namespace mpsprobe
