#include "reproducers/bundle/redaction/software_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "harness/signature/shape.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

constexpr std::array<std::string_view, 8> kSystemFolders{
    "/usr/lib/", "/usr/libexec/",   "/usr/bin/", "/usr/sbin/",
    "/System/",  "/Library/Apple/", "/lib/",     "/lib64/"};

constexpr std::array<std::string_view, 16> kVariables{
    "MPS_", "PYTORCH_", "TORCH_", "MTL_",  "METAL_", "MPSPROBE_", "OMP_",   "KMP_",
    "MKL_", "GOMP_",    "CUDA_",  "DYLD_", "LD_",    "Malloc",    "MALLOC", "OBJC_"};

constexpr std::array<std::string_view, 26> kEndings{
    ".a", ".c",   ".cc",  ".cpp",  ".cu",  ".cuh",         ".cxx",   ".dylib",   ".framework",
    ".h", ".hpp", ".ips", ".json", ".log", ".m",           ".metal", ".mm",      ".ndjson",
    ".o", ".py",  ".pyx", ".rs",   ".sh",  ".safetensors", ".so",    ".metallib"};

/// Packages of Python's that everybody has, and modules of its own library that are in C: that
/// somebody uses one says nothing of them.
const std::string kPublic =
    "torch|functorch|mlx|mpsprobe|numpy|scipy|pandas|polars|pyarrow|duckdb|sklearn|cv2|PIL|"
    "matplotlib|h5py|netCDF4"
    "|onnxruntime|tensorflow|jaxlib|numba|llvmlite|triton|lxml|tokenizers|safetensors|"
    "sentencepiece|pytest";
const std::string kOfPython =
    "_(?:asyncio|bz2|ctypes|datetime|decimal|elementtree|hashlib|json|lzma|multiprocessing|pickle|"
    "posixsubprocess|queue|random"
    "|socket|sqlite3|ssl|struct|zoneinfo)|array|math|mmap|pyexpat|select|zlib";

bool begins_with_any(std::string_view text, const auto& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view each) { return text.starts_with(each); });
}

}  // namespace

bool is_path_of_the_system(std::string_view path) {
  return path.find("..") == std::string_view::npos && begins_with_any(path, kSystemFolders);
}

bool is_name_of_the_software(std::string_view name) {
  static const Shape kNames(
      "(?:" + kPublic + "|" + kOfPython +
      "|(?:lib)?(?:mpsprobe|torch|c10|caffe2|mlx|python3?|cuda|cudart|cudnn|cublas|cublasLt|nccl"
      "|nvrtc|cufft|cusparse|cusolver|numpy|dyld)"
      "(?:[-_](?:cpu|cuda|python|worker|metal|api|linalg|global_deps|mps|runtime|ml|ops|stand_in"
      "|selftest|observer|sim|mlx|own|fixed|face|objects|tsan)){0,3}"
      "|lib(?:system_[a-z]{1,12}|shm|omp|gomp|iomp5|stdc\\+\\+|c\\+\\+|c\\+\\+abi|gcc_s|gfortran"
      "|openblas|objc|gnustep-base|dispatch|c|m|pthread|dl|rt|z|unwind)"
      "|AGXMetal\\w{0,8}|IOGPU|IOAccelerator|IOKit|Metal(?:PerformanceShaders(?:Graph)?|Tools)?"
      "|MPS(?:Core|Matrix|NDArray|NeuralNetwork|RayIntersector|Image|Functions)|MTLCompiler"
      "|(?:Core)?Foundation|QuartzCore|CoreGraphics|Accelerate|vecLib|GPUCompiler\\w*|"
      "GPUToolsCapture"
      "|ld-linux-[\\w-]{1,12}|\\[vdso\\]|zsh|bash|sh|fish|launchd|sshd|login|make|ninja|ctest|"
      "kernel)"
      "(?:\\.cpython-\\d{2,3}t?-[\\w-]{1,24})?(?:\\.[A-E])?"
      "(?:[-.]?\\d{1,3}){0,4}t?(?:\\.(?:so|dylib|framework))?(?:\\.\\d{1,3}){0,4}$");
  return kNames.match(name, 0).has_value();
}

size_t place_in_a_package(std::string_view path) {
  for (std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.rfind(folder);
    if (at == std::string_view::npos) continue;
    static const Shape kPackages("(?:" + kPublic + ")/");
    if (kPackages.match(path, at + folder.size())) return at + 1;
  }
  return std::string_view::npos;
}

bool is_public_package(std::string_view name) {
  // Of some that name differs from their module's.
  static const Shape kNames("(?:" + kPublic +
                            "|scikit-learn|opencv-python(?:-headless)?|pillow|jax)$");
  return kNames.match(name, 0).has_value();
}

std::string_view ending_of_software(std::string_view name) {
  name = name.substr(0, name.find_last_not_of("0123456789.") + 1);
  for (std::string_view ending : kEndings) {
    if (name.size() > ending.size() && name.ends_with(ending)) return ending;
  }
  return "";
}

bool is_variable_of_the_software(std::string_view name) {
  return begins_with_any(name, kVariables);
}

}  // namespace mpsprobe
