// Holds README.md and docs/ to the tree: each link leads somewhere, each path that is named exists,
// and each folder has a row in docs/design.md.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

const fs::path kSource = MPSPROBE_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// README.md and docs/*.md. The pages below docs/gallery are written by mpsprobe itself.
std::vector<fs::path> pages() {
  std::vector<fs::path> found{kSource / "README.md", kSource / "CHANGELOG.md"};
  for (const auto& entry : fs::directory_iterator(kSource / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

// The text without blocks of code, whose lines begin with # or [ for other reasons.
std::string without_code_blocks(const std::string& text) {
  std::istringstream lines(text);
  std::string prose;
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      code = !code;
    } else if (!code) {
      prose += line + "\n";
    }
  }
  return prose;
}

// The names by which GitHub links to the headings of a page.
std::set<std::string> anchors_of(const fs::path& page) {
  std::istringstream lines(without_code_blocks(text_of(page)));
  std::set<std::string> anchors;
  for (std::string line; std::getline(lines, line);) {
    const size_t text = line.find_first_not_of('#');
    if (text == 0 || text == std::string::npos || line[text] != ' ') continue;
    std::string anchor;
    for (const char c : line.substr(text + 1)) {
      if (c == ' ') anchor += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

std::string shown(const fs::path& page) {
  return fs::relative(page, kSource).string();
}

TEST(Documentation, EachLinkLeadsToAPageAndAHeadingThatExist) {
  std::vector<std::string> dead;
  const std::regex link(R"(\]\(([^)#\s]*)(#([^)\s]*))?\))");
  for (const fs::path& page : pages()) {
    const std::string text =
        std::regex_replace(without_code_blocks(text_of(page)), std::regex("`[^`\n]*`"), "code");
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string file = (*at)[1];
      const std::string anchor = (*at)[3];
      if (file.find("://") != std::string::npos) continue;
      const fs::path target = file.empty() ? page : page.parent_path() / file;
      const bool whole =
          fs::exists(target) && (anchor.empty() || anchors_of(target).contains(anchor));
      if (!whole) dead.push_back(shown(page) + ": " + (*at)[0].str());
    }
  }
  EXPECT_THAT(dead, IsEmpty());
}

TEST(Documentation, EachPathOfTheTreeThatIsNamedExists) {
  std::vector<std::string> missing;
  const std::regex path(
      "`((harness|scenarios|reproducers|reports|tools|cmake|docs)/[A-Za-z0-9_./-]+)`");
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    for (std::sregex_iterator at(text.begin(), text.end(), path), end; at != end; ++at) {
      if (!fs::exists(kSource / (*at)[1].str()))
        missing.push_back(shown(page) + ": " + (*at)[1].str());
    }
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(Documentation, EachFolderHasARowInTheDesign) {
  const std::string design = text_of(kSource / "docs/design.md");
  std::vector<std::string> missing;
  for (const char* room : {"harness", "scenarios", "reproducers", "reports", "tools"}) {
    for (const auto& entry : fs::directory_iterator(kSource / room)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_directory() && design.find("`" + name + "`") == std::string::npos) {
        missing.push_back(std::string(room) + "/" + name);
      }
    }
  }
  EXPECT_THAT(missing, IsEmpty());
}

// Whether some line of the source is compiled on macOS alone, or everywhere else.
bool differs_on_macos(const fs::path& file) {
  static const std::regex condition("(^|\n)#(if|ifdef|ifndef|elif) [^\n]*__APPLE__");
  return std::regex_search(text_of(file), condition);
}

// Names of the functions that a file defines, where macOS has files of its own for them.
std::set<std::string> functions_of_macos(const fs::path& file) {
  std::set<std::string> names;
  const std::string stem = file.stem().string();
  if (!stem.ends_with("_macos") && !stem.ends_with("_apple")) return names;
  std::istringstream lines(text_of(file));
  const std::regex definition(R"([A-Za-z][^=;]*[ :&*](\w+)\([^;=]*(\{.*)?)");
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, definition)) names.insert(match[1]);
  }
  return names;
}

// What the page does not say of the file: that it is there, how it was shown, a function.
std::vector<std::string> unsaid_of(const fs::path& file, const std::string& page) {
  std::istringstream lines(page);
  const std::regex row("\\| `" + shown(file) +
                       "` \\| (.*) ?\\| (run|face|headers|linked|read)\\b.*");
  std::string said;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, row)) said += "row " + match[1].str();
  }
  std::vector<std::string> unsaid;
  if (said.empty()) unsaid.push_back(shown(file));
  for (const std::string& name : functions_of_macos(file)) {
    if (said.find("`" + name + "`") == std::string::npos)
      unsaid.push_back(shown(file) + ": " + name);
  }
  return unsaid;
}

TEST(Documentation, EachFileOfTheMacHalfSaysHowItWasShown) {
  const std::string page = text_of(kSource / "docs/macos.md");
  const std::regex test(".*_(tests?|bench)");
  std::vector<std::string> missing;
  for (const char* room : {"harness", "scenarios", "reproducers", "reports", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / room)) {
      const std::string kind = entry.path().extension().string();
      if ((kind != ".cpp" && kind != ".h" && kind != ".mm") ||
          entry.path().string().find(".framework/") != std::string::npos ||
          std::regex_match(entry.path().stem().string(), test) ||
          (!differs_on_macos(entry.path()) && functions_of_macos(entry.path()).empty())) {
        continue;
      }
      for (const std::string& what : unsaid_of(entry.path(), page)) missing.push_back(what);
    }
  }
  EXPECT_THAT(missing, IsEmpty());
  const fs::path file = kSource / "harness/platform/memory_macos.cpp";
  EXPECT_THAT(unsaid_of(file, ""), testing::Contains(shown(file)));
  EXPECT_THAT(unsaid_of(file, "| `" + shown(file) + "` | `held_bytes` | run |"),
              testing::Contains(shown(file) + ": physical_memory_bytes"));
}

// Which rooms a room may include from, as docs/design.md has it; of harness, scenarios know three
// folders. Tests, benchmarks and their props may run programs.
const std::map<std::string, std::string> kMayKnow{
    {"harness", "harness/"},
    {"reports", "(reports|harness)/"},
    {"reproducers", "(reproducers|reports|harness)/"},
    {"scenarios", "(scenarios/|harness/(wire|input|provenance)/)"},
};

std::vector<std::string> includes_against(const fs::path& file, const std::string& may_know) {
  std::vector<std::string> found;
  const std::string text = text_of(file);
  const std::regex include("#include \"((harness|reports|reproducers|scenarios|tools)/[^\"]*)\"");
  const std::regex allowed(may_know + ".*");
  for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at) {
    if (!std::regex_match((*at)[1].str(), allowed)) {
      found.push_back(shown(file) + " includes " + (*at)[1].str());
    }
  }
  return found;
}

TEST(Rooms, IncludeWhatTheDesignLetsThemKnow) {
  const std::regex source("\\.(cpp|h|mm|m|c)$");
  const std::regex of_tests("(_test|_bench|_for_tests)\\.");
  std::vector<std::string> against;
  size_t files = 0;
  for (const auto& [room, may_know] : kMayKnow) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / room)) {
      const std::string name = entry.path().filename().string();
      if (!std::regex_search(name, source) || std::regex_search(name, of_tests)) continue;
      ++files;
      const auto found = includes_against(entry.path(), may_know);
      against.insert(against.end(), found.begin(), found.end());
    }
  }
  EXPECT_THAT(against, IsEmpty());
  EXPECT_GT(files, 300U);
}

TEST(Rooms, AnIncludeAgainstTheDesignIsFound) {
  const fs::path file = fs::path(testing::TempDir()) / "against.cpp";
  std::ofstream(file) << "#include \"harness/wire/cell.h\"\n#include \"harness/process/child.h\"\n";
  EXPECT_THAT(includes_against(file, kMayKnow.at("scenarios")), testing::SizeIs(1));
  EXPECT_THAT(includes_against(file, kMayKnow.at("harness")), IsEmpty());
  fs::remove(file);
}

TEST(Documentation, TheReadmeIsShort) {
  const std::string readme = text_of(kSource / "README.md");
  EXPECT_LE(std::count(readme.begin(), readme.end(), '\n'), 120);
}

}  // namespace
}  // namespace mpsprobe
