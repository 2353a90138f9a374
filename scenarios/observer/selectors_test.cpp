// The methods that the rules ask for are those that Apple's headers declare: a name that is written
// wrongly here would be hooked nowhere, and nothing would tell. Metal's headers are those of
// MPSPROBE_MACOS_SDK or of tools/setup --macos, where there are any; of Metal Performance Shaders
// and MPSGraph ours are read, which the Mac build compares with Apple's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Without what stands in parentheses: types, and the arguments of macros.
std::string without_parentheses(const std::string& text) {
  std::string out;
  int depth = 0;
  for (const char each : text) {
    if (each == '(') ++depth;
    if (depth == 0) out += each;
    if (each == ')' && depth > 0) {
      --depth;
      out += ' ';
    }
  }
  return out;
}

void add_method(const std::string& declaration, std::set<std::string>& selectors) {
  static const std::regex kPart(R"(([A-Za-z_]\w*)\s*:)");
  static const std::regex kName(R"([A-Za-z_]\w*)");
  const std::string plain = without_parentheses(declaration);
  std::string selector;
  for (auto at = std::sregex_iterator(plain.begin(), plain.end(), kPart);
       at != std::sregex_iterator(); ++at) {
    selector += (*at)[1].str() + ':';
  }
  if (std::smatch name; selector.empty() && std::regex_search(plain, name, kName))
    selector = name.str();
  selectors.insert(selector);
}

void add_property(const std::string& declaration, std::set<std::string>& selectors) {
  static const std::regex kName(R"((?:\*|\s|>)([A-Za-z_]\w*)\s*(?:[A-Z]+_[A-Z_]+\s*.*)?$)");
  if (std::smatch name; std::regex_search(declaration, name, kName))
    selectors.insert(name[1].str());
}

/// A declaration begins a line, and ends with a semicolon.
void add_declared(const std::string& text, std::set<std::string>& selectors) {
  std::istringstream lines(text);
  std::string declaration;
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(" \t");
    const bool begins =
        first != std::string::npos &&
        (line.find('(', first) != std::string::npos || line[first] == '@') &&
        (line[first] == '-' || line[first] == '+' || line.compare(first, 9, "@property") == 0);
    if (begins) declaration.clear();
    if (!begins && declaration.empty()) continue;
    declaration += line.substr(0, line.find("//")) + ' ';
    const size_t end = declaration.find(';');
    if (end == std::string::npos) continue;
    declaration.erase(end);
    const size_t start = declaration.find_first_not_of(" \t");
    if (declaration[start] == '@') {
      add_property(without_parentheses(declaration), selectors);
    } else {
      add_method(declaration, selectors);
    }
    declaration.clear();
  }
}

std::set<std::string> declared_in(const fs::path& folder) {
  std::set<std::string> selectors;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink)) {
    if (entry.path().extension() == ".h") add_declared(text_of(entry.path()), selectors);
  }
  return selectors;
}

struct Row {
  std::string role;
  std::string selector;
  bool prefix;
};

/// As they stand in the table.
std::vector<Row> rows() {
  static const std::regex kRow(R"re(\{Role::(\w+),\s*"([^"]+)",\s*k(Exact|Prefix))re");
  const std::string text = text_of(MPSPROBE_SOURCE_DIR "/scenarios/observer/events.cpp");
  std::vector<Row> all;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kRow); at != std::sregex_iterator();
       ++at) {
    all.push_back({(*at)[1].str(), (*at)[2].str(), (*at)[3].str() == "Prefix"});
  }
  return all;
}

/// What SDKs before macOS 26 do not have.
bool is_metal4(const std::string& role) {
  return role == "queue4" || role == "command_buffer4" || role == "allocator" ||
         role == "commit_options";
}

bool is_metal(const std::string& role) {
  return role != "kernel" && role != "array" && role != "graph";
}

std::vector<std::string> missing_of(bool metal, const std::set<std::string>& declared) {
  std::vector<std::string> missing;
  for (const Row& row : rows()) {
    // NSObject's, and a class method of Metal Performance Shaders.
    if (row.selector == "dealloc" || row.selector == "commandBufferFromCommandQueue:") continue;
    if (is_metal(row.role) != metal) continue;
    if (is_metal4(row.role) && !declared.contains("newCommandAllocator")) continue;
    const auto at = declared.lower_bound(row.selector);
    const bool found =
        at != declared.end() && (row.prefix ? at->starts_with(row.selector) : *at == row.selector);
    if (!found) missing.push_back(row.selector);
  }
  return missing;
}

TEST(ObservedSelectors, OfMetalAreInApplesHeaders) {
  ASSERT_GT(rows().size(), 25U);
  const char* const given = std::getenv("MPSPROBE_MACOS_SDK");
  const fs::path sdk = given != nullptr
                           ? fs::path(given)
                           : fs::path(MPSPROBE_SOURCE_DIR "/.deps/macos/xcode-frameworks");
  for (const char* frameworks : {"System/Library/Frameworks", "Frameworks"}) {
    const fs::path headers = sdk / frameworks / "Metal.framework";
    if (!fs::exists(headers)) continue;
    EXPECT_THAT(missing_of(true, declared_in(headers)), IsEmpty());
    return;
  }
  GTEST_SKIP() << "no SDK of Apple's: name one with MPSPROBE_MACOS_SDK";
}

TEST(ObservedSelectors, OfMetalPerformanceShadersAndItsGraphAreInOurHeaders) {
  std::set<std::string> declared =
      declared_in(MPSPROBE_SOURCE_DIR "/scenarios/frameworks/MetalPerformanceShaders.framework");
  declared.merge(declared_in(MPSPROBE_SOURCE_DIR
                             "/scenarios/frameworks/MetalPerformanceShadersGraph.framework"));
  EXPECT_THAT(missing_of(false, declared), IsEmpty());
  EXPECT_TRUE(declared.contains("commandBufferFromCommandQueue:"));
  EXPECT_FALSE(declared.contains("encodeToNowhere:"));
}

}  // namespace
