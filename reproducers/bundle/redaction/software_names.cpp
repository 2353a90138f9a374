#include "reproducers/bundle/redaction/software_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "reproducers/bundle/redaction/text_scan.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostName = 120;

constexpr std::array<std::string_view, 33> kEndings{
    ".a",     ".c",         ".cc",      ".cpp",   ".cu",          ".cuh",    ".cxx",
    ".dylib", ".framework", ".h",       ".hpp",   ".inc",         ".inl",    ".ips",
    ".json",  ".log",       ".m",       ".metal", ".mm",          ".ndjson", ".o",
    ".py",    ".pyx",       ".rs",      ".s",     ".safetensors", ".sh",     ".so",
    ".swift", ".metallib",  ".metalar", ".txt",   ".tcc"};

constexpr std::array<std::string_view, 8> kSystemFolders{
    "/usr/lib/", "/usr/libexec/",   "/usr/bin/", "/usr/sbin/",
    "/System/",  "/Library/Apple/", "/lib/",     "/lib64/"};

/// Beginnings of names, in lower case.
constexpr std::array<std::string_view, 28> kSoftware{
    "mpsprobe",    "libmpsprobe", "libtorch",  "libc10",    "libomp",  "libgomp",  "libiomp",
    "libmlx",      "mlx",         "libpython", "python",    "torch",   "libshm",   "libcaffe2",
    "libcuda",     "libcudart",   "libcudnn",  "libcublas", "libnccl", "libnvrtc", "libgfortran",
    "libopenblas", "libmkl",      "numpy",     "libstdc++", "libc++",  "libgcc",   "dyld"};
/// Whole names, in lower case: of the system, and of what runs programs.
constexpr std::array<std::string_view, 24> kWhole{"zsh",
                                                  "bash",
                                                  "sh",
                                                  "fish",
                                                  "launchd",
                                                  "terminal",
                                                  "iterm2",
                                                  "sshd",
                                                  "tmux",
                                                  "login",
                                                  "sudo",
                                                  "make",
                                                  "ninja",
                                                  "ctest",
                                                  "kernel",
                                                  "kernel_task",
                                                  "windowserver",
                                                  "libc.so.6",
                                                  "libm.so.6",
                                                  "libpthread.so.0",
                                                  "libdl.so.2",
                                                  "librt.so.1",
                                                  "ld-linux-x86-64.so.2",
                                                  "[vdso]"};

/// "libfoo.so.1.2" ends in ".so".
std::string_view without_version(std::string_view name) {
  return name.substr(0, name.find_last_not_of("0123456789.") + 1);
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x80 &&
                  (is_name_byte(c) || std::string_view("_-.+").find(c) != std::string_view::npos);
         });
}

bool is_path_of_the_system(std::string_view path) {
  return path.find("..") == std::string_view::npos &&
         std::any_of(kSystemFolders.begin(), kSystemFolders.end(), [&](std::string_view folder) {
           return path.starts_with(folder) || path == folder.substr(0, folder.size() - 1);
         });
}

bool is_software_of_everybody(std::string_view name) {
  const std::string lower = ascii_lower(name);
  return std::any_of(kSoftware.begin(), kSoftware.end(),
                     [&](std::string_view known) { return lower.starts_with(known); }) ||
         std::find(kWhole.begin(), kWhole.end(), lower) != kWhole.end();
}

std::string_view ending_of_software(std::string_view name) {
  const std::string lower = ascii_lower(without_version(name));
  const auto ending = std::find_if(kEndings.begin(), kEndings.end(),
                                   [&](std::string_view each) { return lower.ends_with(each); });
  return ending == kEndings.end() ? "" : *ending;
}

bool is_name_of_a_file_of_software(std::string_view name) {
  return is_plain_name(name) &&
         (is_software_of_everybody(name) || !ending_of_software(name).empty());
}

}  // namespace mpsprobe
