// Runs a fuzz target over files that are given, without a fuzzer: the corpora as regression tests,
// in every build and with every compiler. Arguments: files and folders. Exit codes: 0 all ran; 2
// there was nothing to run. What the target finds ends the process.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes);

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());  // the last one named is the one that failed
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    // Every prefix of a small file as well: truncation is the commonest damage.
    constexpr size_t kSmall = 4096;
    for (size_t bytes = 0; text.size() <= kSmall && bytes < text.size(); bytes += 1 + bytes / 16) {
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), bytes);
    }
  }
  std::fprintf(stderr, "%zu files\n", files.size());
  return files.empty() ? 2 : 0;
}
