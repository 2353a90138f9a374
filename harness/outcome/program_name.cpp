#include "harness/outcome/program_name.h"

#include <algorithm>

#include "harness/outcome/ascii.h"

namespace mpsprobe {
namespace {

constexpr auto npos = std::string_view::npos;

// What names of LibTorch's operators are made of, and words that say what went wrong.
constexpr std::string_view kNotPrograms[] = {
    "add",       "addmm",   "addmv",    "attribute", "avg",    "backward",  "batch",
    "bernoulli", "bias",    "bmm",      "bucketize", "cat",    "clamp",     "conv1d",
    "conv2d",    "conv3d",  "copy",     "cpu",       "cuda",   "dense",     "diag",
    "dim",       "dot",     "einsum",   "embedding", "error",  "expand",    "fill",
    "flatten",   "forward", "gather",   "gelu",      "geqrf",  "grad",      "group",
    "index",     "kernel",  "layer",    "linalg",    "linear", "log",       "loss",
    "lstm",      "masked",  "matmul",   "max",       "mean",   "min",       "mkl",
    "mkldnn",    "mm",      "movedim",  "mps",       "mul",    "mv",        "mvlgamma",
    "native",    "nested",  "nonzero",  "norm",      "numel",  "out",       "pad",
    "permute",   "pool",    "pool1d",   "pool2d",    "pool3d", "pow",       "prelu",
    "product",   "qnnpack", "quantize", "quantized", "reduce", "renorm",    "repeat",
    "reshape",   "resize",  "rnn",      "rrelu",     "scaled", "scatter",   "select",
    "set",       "size",    "softmax",  "solve",     "sort",   "sparse",    "squeeze",
    "stack",     "sum",     "svd",      "take",      "tensor", "tensordot", "terminating",
    "to",        "torch",   "trace",    "trapezoid", "tril",   "triu",      "typeid",
    "unflatten", "unfold",  "unique",   "var",       "vdot",   "view",      "vmap",
    "weight",    "zero",    "zeros"};

// "saver", "edge_runner_v2", "tp-worker"
bool is_program(std::string_view name) {
  if (!ascii::lower(ascii::at(name, 0))) return false;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('_', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    const bool plain = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return ascii::lower(c) || ascii::digit(c) || c == '-';
    });
    if (!plain || ascii::is_one_of(part, kNotPrograms)) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

size_t program_name_length(std::string_view line) {
  constexpr size_t kLongest = 40;
  const std::string_view head = line.substr(0, kLongest);
  if (const size_t close = head.find("] "); head.starts_with('[') && close != npos) {
    if (is_program(head.substr(1, close - 1))) return close + 2;
  }
  constexpr std::string_view kIn = "in ";
  if (const size_t call = head.find("(): "); call != npos && head.starts_with(kIn)) {
    if (call == kIn.size() + ascii::word_length(head.substr(kIn.size()))) return call + 4;
  }
  const size_t end = head.find(": ");
  if (end == npos) return 0;
  const std::string_view name = head.substr(0, end);
  const bool script = name.find(' ') == npos &&
                      (name.ends_with(".py") || name.starts_with("./") || name.starts_with('/'));
  return script || is_program(name) ? end + 2 : 0;
}

}  // namespace mpsprobe
