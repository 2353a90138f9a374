#include "harness/signature/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/signature/find_failures.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(MPSPROBE_SOURCE_DIR) / "harness/signature/testdata";

/// A case of a golden file, of which each holds several, one below the other:
///
///   ==== name
///   reads: last words              or message; what find_failures() finds, where it is left out
///   class: assertion               of each finding, in order; none in a case named none-...
///   title: assertion: no lane
///   known: no
///   why: metal-assertion
///
///   what was printed, up to the next case
struct GoldenCase {
  std::filesystem::path file;
  std::string name;
  std::string reads;
  std::string expected;  ///< the lines above the empty one, but for the first two
  std::string text;
};

constexpr std::string_view kCase = "==== ";
constexpr std::string_view kReads = "reads: ";

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

std::string lines_of(const Titled& titled) {
  return "title: " + titled.title + "\nwhy: " + joined(titled.why) + "\n";
}

std::string take_line(std::string& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string line = text.substr(0, end);
  text.erase(0, end + 1);
  return line;
}

void read_file(const std::filesystem::path& file, std::vector<GoldenCase>& cases) {
  std::ifstream in(file, std::ios::binary);
  std::string rest{std::istreambuf_iterator<char>(in), {}};
  while (!rest.empty()) {
    const size_t end = rest.find("\n" + std::string(kCase));
    std::string text = rest.substr(0, end == std::string::npos ? end : end + 1);
    rest.erase(0, text.size());
    if (!text.starts_with(kCase)) {
      throw std::runtime_error(file.string() + ": a case has to begin with \"==== name\"");
    }
    GoldenCase golden{file, take_line(text).substr(kCase.size()), "", "", ""};
    if (text.starts_with(kReads)) golden.reads = take_line(text).substr(kReads.size());
    while (!text.empty() && !text.starts_with("\n")) golden.expected += take_line(text) + "\n";
    golden.text = text.substr(std::min<size_t>(1, text.size()));
    cases.push_back(std::move(golden));
  }
}

/// All cases of the folder's files, in order.
std::vector<GoldenCase> read_golden_cases(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<GoldenCase> cases;
  for (const std::filesystem::path& file : files) read_file(file, cases);
  return cases;
}

/// The lines that a case expects, as `rules` make them.
std::string lines_of(const GoldenCase& golden, const Rules& rules) {
  if (golden.reads == "last words") return lines_of(last_words(golden.text, rules));
  if (golden.reads == "message") return lines_of(title_behind_leads(golden.text, rules));
  std::string lines;
  for (const Finding& finding : find_failures(golden.text, rules)) {
    lines += "class: " + std::string(name_of(finding.text_class)) + "\n";
    lines += "title: " + finding.title + "\n";
    lines += std::string("known: ") + (finding.known ? "yes" : "no") + "\n";
    lines += "why: " + joined(finding.why) + "\n";
  }
  return lines;
}

void write_golden_cases(const std::vector<GoldenCase>& cases) {
  std::map<std::filesystem::path, std::string> files;
  for (const GoldenCase& golden : cases) {
    std::string& file = files[golden.file];
    file += std::string(kCase) + golden.name + "\n";
    if (!golden.reads.empty()) file += std::string(kReads) + golden.reads + "\n";
    file += lines_of(golden, Rules::standard()) + "\n" + golden.text;
  }
  for (const auto& [file, text] : files) std::ofstream(file, std::ios::binary) << text;
}

bool printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

TEST(Goldens, SayWhatIsFound) {
  const std::vector<GoldenCase> cases = read_golden_cases(kFolder / "titles");
  if (std::getenv("MPSPROBE_UPDATE_GOLDEN") != nullptr) write_golden_cases(cases);
  std::set<std::string> names;
  size_t negatives = 0;
  for (const GoldenCase& golden : read_golden_cases(kFolder / "titles")) {
    const std::string place = golden.file.filename().string() + ": " + golden.name;
    const std::string lines = lines_of(golden, Rules::standard());
    EXPECT_EQ(lines, golden.expected) << place;
    EXPECT_TRUE(names.insert(golden.name).second) << place;
    // The name says whether there is anything to find: an update cannot turn that around.
    const bool none = lines.empty() || lines.starts_with("title: \n");
    EXPECT_EQ(golden.name.starts_with("none-"), none) << place;
    negatives += none ? 1 : 0;
  }
  EXPECT_GE(names.size(), 300U);
  EXPECT_GE(negatives, 36U);
}

TEST(Goldens, SurviveEscapesCarriageReturnsAndCuts) {
  for (GoldenCase golden : read_golden_cases(kFolder / "titles")) {
    const std::string text = golden.text;
    golden.text.clear();
    for (char c : text) {
      if (c == '\n') golden.text += '\r';
      if (c == ' ') golden.text += "\x1b[0m";
      golden.text += c;
    }
    EXPECT_EQ(lines_of(golden, Rules::standard()), golden.expected) << golden.name;
    // Wherever the capture was cut, what is found stays bounded and printable.
    for (size_t cut = 0; cut < text.size(); cut += 7) {
      for (const Finding& finding : find_failures(std::string_view(text).substr(cut))) {
        EXPECT_TRUE(printable_ascii(finding.title)) << golden.name;
        EXPECT_LE(finding.title.size(), 160U) << golden.name;
        EXPECT_LE(finding.excerpt.size(), 600U) << golden.name;
      }
    }
  }
}

bool names_the_row(const GoldenCase& golden, std::string_view name) {
  for (std::string_view lines = golden.expected; !lines.empty();) {
    const size_t end = std::min(lines.find('\n'), lines.size() - 1);
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    if (!line.starts_with("why: ")) continue;
    const std::string list = ", " + std::string(line.substr(5)) + ", ";
    if (list.find(", " + std::string(name) + ", ") != std::string::npos) return true;
  }
  return false;
}

const std::string& name_of(const PassingFrame& row) {
  return row.function;
}
const std::string& name_of(const auto& row) {
  return row.name;
}

// Whether each row's absence changes a golden, of those that name it where `named`.
template <typename Row>
void expect_needed(std::vector<Row> Rules::*table, bool named) {
  std::vector<GoldenCase> cases = read_golden_cases(kFolder / "titles");
  const std::vector<Row>& rows = Rules::standard().*table;
  ASSERT_THAT(rows, testing::Not(testing::IsEmpty()));
  for (size_t i = 0; i < rows.size(); ++i) {
    Rules rules = Rules::standard();
    std::vector<Row>& rest = rules.*table;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const GoldenCase& golden) {
      return (!named || names_the_row(golden, name_of(rows[i]))) &&
             lines_of(golden, rules) != golden.expected;
    });
    EXPECT_TRUE(found != cases.end()) << name_of(rows[i]) << ": no golden needs this row";
    std::rotate(cases.begin(), found, cases.end());  // the next row's is most often near
  }
}

TEST(Rows, OfTextsAreNeededByAGolden) {
  expect_needed(&Rules::texts, true);
}
TEST(Rows, OfLeadsAreNeededByAGolden) {
  expect_needed(&Rules::leads, true);
}
TEST(Rows, OfMasksAreNeededByAGolden) {
  expect_needed(&Rules::masks, true);
}
TEST(Rows, OfNoiseAreNeededByAGolden) {
  expect_needed(&Rules::noise, false);
}
TEST(Rows, OfTellingLinesAreNeededByAGolden) {
  expect_needed(&Rules::telling, false);
}

TEST(Rows, OfOwnFunctionsAreNeededByAGolden) {
  expect_needed(&Rules::own, false);
}

// Each line of the golden file: an image, two spaces, a function; a frame that counts has a star in
// front.
TEST(Rows, OfPassingFramesAreNeededByAGolden) {
  struct Frame {
    std::string image;
    std::string function;
    const PassingFrame* row;
  };
  std::vector<Frame> frames;
  std::ifstream in(kFolder / "passing_frames.txt");
  for (std::string line; std::getline(in, line);) {
    const bool counts = line.starts_with("* ");
    if (counts) line.erase(0, 2);
    const size_t gap = line.find("  ");
    ASSERT_NE(gap, std::string::npos) << line;
    const std::string image = line.substr(0, gap);
    const std::string function = line.substr(gap + 2);
    const PassingFrame* row = find_passing_frame(image, function);
    EXPECT_EQ(row == nullptr, counts) << line;
    frames.push_back({image, function, row});
  }
  for (size_t i = 0; i < Rules::standard().frames.size(); ++i) {
    const PassingFrame& row = Rules::standard().frames[i];
    std::vector<PassingFrame> rest = Rules::standard().frames;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const bool needed = std::any_of(frames.begin(), frames.end(), [&](const Frame& frame) {
      if (frame.row != &row) return false;
      const PassingFrame* other = find_passing_frame(frame.image, frame.function, rest);
      return other == nullptr || other->meaning != row.meaning;
    });
    EXPECT_TRUE(needed) << row.image << " " << row.function << ": no golden needs this row";
  }
}

}  // namespace
}  // namespace mpsprobe
