#include "harness/wire/variables.h"

#include <algorithm>

#include "harness/input/input_error.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

using std::string_view;

constexpr string_view kInherited = "inherited";
constexpr string_view kPrefix = "env.";
constexpr size_t kMostBytes = 80;  // of a name, and of a value

/// The last ten begin no name.
constexpr string_view kInNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

bool is_name(string_view text) {
  return !text.empty() && text.size() <= kMostBytes &&
         text.find_first_not_of(kInNames) == string_view::npos &&
         kInNames.find(text.front()) < kInNames.size() - 10;
}

// A cell's text is a file name's part and a shell's word: nothing else may stand in it.
bool is_value(string_view text) {
  return !text.empty() && text.size() <= kMostBytes && text != kInherited &&
         text.find_first_not_of(std::string(kInNames) + ".:-") == string_view::npos;
}

/// What a release documents, or a founding report used, and what its values are: numbers and fixed
/// words. None of them is a path, a program, a library or a host.
struct Switches {
  string_view source;
  string_view names;  // a space between
};

constexpr Switches kSwitches[] = {
    {"docs.pytorch.org/docs/2.15/mps_environment_variables.html",
     "PYTORCH_DEBUG_MPS_ALLOCATOR PYTORCH_MPS_LOG_PROFILE_INFO PYTORCH_MPS_TRACE_SIGNPOSTS "
     "PYTORCH_MPS_HIGH_WATERMARK_RATIO PYTORCH_MPS_LOW_WATERMARK_RATIO PYTORCH_MPS_FAST_MATH "
     "PYTORCH_MPS_PREFER_METAL PYTORCH_ENABLE_MPS_FALLBACK"},
    {"the founding reports' fork of PyTorch 2.9.1", "MPS_FORCE_GRAPH_PATH PYTORCH_NO_MPS_PROFILER"},
    {"docs.pytorch.org/docs/2.15/cuda_environment_variables.html",
     "PYTORCH_NO_CUDA_MEMORY_CACHING TORCH_CUDNN_V8_API_DISABLED "
     "TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT "
     "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING "
     "CUBLAS_WORKSPACE_CONFIG"},
    {"docs.pytorch.org/docs/2.15/threading_environment_variables.html, and what ATen reads",
     "OMP_NUM_THREADS MKL_NUM_THREADS ATEN_CPU_CAPABILITY"},
    {"the OpenMP 5.2 specification, chapter 21; openblas.net",
     "OMP_WAIT_POLICY OPENBLAS_NUM_THREADS"},
    {"ml-explore.github.io/mlx, Environment Variables",
     "MLX_DISABLE_COMPILE MLX_ENABLE_TF32 MLX_METAL_FAST_SYNCH MLX_CONV_WINOGRAD "
     "MLX_METAL_RESIDENCY_REFRESH_INTERVAL_MS MLX_BFS_MAX_WIDTH MLX_MAX_OPS_PER_BUFFER "
     "MLX_MAX_MB_PER_BUFFER MLX_SDPA_BLOCKS MLX_USE_CUDA_GRAPHS MLX_CUDA_USE_CUDNN_SDPA "
     "MLX_CUDA_CONV_CACHE_SIZE MLX_CUDA_FFT_CACHE_SIZE MLX_CUDA_GRAPH_CACHE_SIZE "
     "MLX_CUDA_SDPA_CACHE_SIZE MLX_CUDA_SDPA_BACKWARD_CACHE_SIZE MLX_ENABLE_CACHE_THRASHING_CHECK"},
    {"MetalValidation(1)",
     "MTL_DEBUG_LAYER MTL_DEBUG_LAYER_ERROR_MODE MTL_DEBUG_LAYER_WARNING_MODE "
     "MTL_SHADER_VALIDATION MTL_SHADER_VALIDATION_FAIL_MODE "
     "MTL_SHADER_VALIDATION_REPORT_TO_STDERR"},
};

[[noreturn]] void refuse_variable(const std::string& problem, const std::string& remedy) {
  throw InputError("env", problem, remedy);
}

}  // namespace

bool is_documented_switch(string_view name) {
  return std::any_of(std::begin(kSwitches), std::end(kSwitches), [name](const Switches& row) {
    const std::vector<string_view> names = split(row.names, ' ');
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

Variables parse_variables(string_view value) {
  Variables variables;
  if (value == kInherited) return variables;
  for (const string_view item : split(value, '+')) {
    const size_t equals = std::min(item.find('='), item.size());
    const string_view name = item.substr(0, equals);
    const string_view set = item.substr(std::min(equals + 1, item.size()));
    if (!is_name(name)) {
      refuse_variable("has no variable of that name",
                      "Write env.NAME=VALUE; a name has letters, digits and _, at most 80");
    }
    if (!is_value(set)) {
      refuse_variable(std::string(name) + " has a value that no cell can have",
                      "Write 1 to 80 letters, digits and . : _ -, or unset; any other value goes "
                      "to all cells by --env");
    }
    if (name.starts_with("MPSPROBE_")) {
      refuse_variable(std::string(name) + " is mpsprobe's own, and none of a library under test",
                      "Take it out; --env sets it for all cells");
    }
    if (!variables.emplace(name, set).second) {
      refuse_variable(std::string(name) + " is given twice", "Write it once");
    }
  }
  return variables;
}

std::string to_axis_value(const Variables& variables) {
  if (variables.empty()) return std::string(kInherited);
  std::string text;
  for (const auto& [name, value] : variables) {
    if (!text.empty()) text += '+';
    text += name;
    text += '=';
    text += value;
  }
  return text;
}

std::vector<std::string> parse_variable_values(string_view name, string_view list) {
  std::vector<std::string> values;
  for (const string_view item : split(list, ',')) {
    const std::string text =
        (item == kInherited ? "" : std::string(name) + "=") + std::string(item);
    values.push_back(to_axis_value(parse_variables(text)));
  }
  return values;
}

std::vector<std::string> combined(const std::vector<std::string>& some,
                                  const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (const std::string& one : some) {
    for (const std::string& other : more) {
      Variables both = parse_variables(one);
      for (const auto& [name, value] : parse_variables(other)) {
        if (both.emplace(name, value).second) continue;
        refuse_variable(name + " is given twice", "Write it once");
      }
      all.push_back(to_axis_value(both));
    }
  }
  return all;
}

string_view variable_of(string_view axis_name) {
  return axis_name.starts_with(kPrefix) ? axis_name.substr(kPrefix.size()) : string_view();
}

}  // namespace mpsprobe
