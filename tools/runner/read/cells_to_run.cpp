#include "tools/runner/read/cells_to_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "harness/outcome/hang_title.h"
#include "harness/outcome/python_death.h"
#include "harness/signature/ascii.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {
namespace {

constexpr auto npos = std::string_view::npos;

/// A word of the evidence, and what it stands for.
struct Word {
  std::string_view word;
  std::string_view stands_for;
};

// Names that one backend's libraries alone have.
constexpr Word kBackends[] = {
    {"mlx", "mlx"},   {"MLX", "mlx"},   {"metal::malloc", "mlx"}, {"[METAL]", "mlx"},
    {"cuda", "cuda"}, {"CUDA", "cuda"}, {"at::mps", "mps"},       {"at::native::mps", "mps"},
    {"MPS", "mps"}};
// What all that use Apple's GPU stand on.
constexpr Word kLayers[] = {{"AGX", "mps"},
                            {"MTL", "mps"},
                            {"Metal", "mps"},
                            {"command buffer: ", "mps"},
                            {"IOGPU", "mps"}};

// Matrices of known issues (scenarios/matrices).
constexpr Word kMatrices[] = {{"nonzero", "issue-108996"},
                              {"commit an already committed command buffer", "issue-108996"},
                              {"Completed handler provided after commit call", "issue-100285"},
                              {"A command encoder is already encoding", "issue-197836"},
                              {"blitCommandEncoderCommon", "issue-197805"},
                              {"exec_unary_kernel", "issue-167541"},
                              {"orgqr", "issue-173972"},
                              {"householder_product", "issue-173972"},
                              {"when stream is capturing", "cuda-graphs"},
                              {"CUDAGraph", "cuda-graphs"},
                              {"CUDAGeneratorState", "cuda-graphs"},
                              {"stream pool exhausted", "stream-pool"}};

// Operations that LibTorch's workers have.
constexpr Word kOperations[] = {{"scaled_dot_product", "sdpa"},
                                {"sdpa", "sdpa"},
                                {"linear", "linear"},
                                {"Linear", "linear"},
                                {"addmm", "addmm"},
                                {"bmm", "bmm"},
                                {"matmul", "matmul"},
                                {"MatrixMultiplication", "linear"},
                                {"A and B index not found", "linear"},
                                {"softmax", "softmax"},
                                {"layer_norm", "layer_norm"},
                                {"LayerNorm", "layer_norm"},
                                {"batch_norm", "batch_norm"},
                                {"gelu", "gelu"},
                                {"relu", "relu"},
                                {"randn", "randn"},
                                {"arange", "arange"},
                                {"linspace", "linspace"},
                                {"logspace", "logspace"},
                                {"renorm", "renorm"},
                                {"exec_unary", "unary_mix"}};

// "mps" is no part of "MPSNDArray" and none of "temps".
bool holds(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !ascii::lower(text[at - 1]) || !ascii::lower(word[0]);
    const bool ends =
        !ascii::lower(ascii::at(text, at + word.size())) || !ascii::lower(word[word.size() - 1]);
    if (begins && ends) return true;
  }
  return false;
}

template <size_t n>
const Word* first_in(std::string_view text, const Word (&words)[n]) {
  const Word* found = std::find_if(std::begin(words), std::end(words),
                                   [text](const Word& word) { return holds(text, word.word); });
  return found == std::end(words) ? nullptr : found;
}

// What may choose cells, the strongest first: the title, what else was told, frames from the
// innermost on.
std::vector<std::string> evidence_of(const ProcessRecord& process, const Judgement& judgement) {
  constexpr size_t kMostFrames = 40;
  std::vector<std::string> evidence = {judgement.signature};
  for (const OtherFinding& other : judgement.also) evidence.push_back(other.title);
  const auto add_frames = [&](const std::vector<ThreadStack>& threads) {
    for (const ThreadStack& stack : threads) {
      if (!stack.faulting) continue;
      for (size_t i = 0; i < std::min(stack.frames.size(), kMostFrames); ++i) {
        evidence.push_back(stack.frames[i].image + " " + stack.frames[i].function);
      }
    }
  };
  add_frames(process.stacks.threads);
  if (process.crash_report) add_frames(process.crash_report->threads);
  if (const ThreadStack* hung = hung_stack(process); judgement.outcome == Outcome::hang && hung) {
    ThreadStack stack = *hung;
    stack.faulting = true;
    add_frames({stack});
  }
  for (const StackFrame& frame : python_frames(process.err.text())) {
    evidence.push_back(frame.source + " " + frame.function);
  }
  // What stands around a title, last: it may name a class of a driver's.
  for (const Finding& finding : find_failures(process.err.text())) {
    evidence.push_back(finding.excerpt);
  }
  return evidence;
}

template <size_t n>
const Word* first_of(const std::vector<std::string>& evidence, const Word (&words)[n]) {
  for (const std::string& text : evidence) {
    if (const Word* word = first_in(text, words)) return word;
  }
  return nullptr;
}

}  // namespace

std::vector<CellsToRun> cells_to_run(const ProcessRecord& process, const Judgement& judgement) {
  const std::vector<std::string> evidence = evidence_of(process, judgement);
  std::vector<CellsToRun> cells;
  const Word* backend = first_of(evidence, kBackends);
  if (backend == nullptr) backend = first_of(evidence, kLayers);
  const std::string on =
      backend == nullptr ? "" : fmt::format(" --backend {}", backend->stands_for);
  if (const Word* matrix = first_of(evidence, kMatrices)) {
    cells.push_back(
        {fmt::format("mpsprobe run --matrix {}", matrix->stands_for), std::string(matrix->word)});
  }
  if (backend != nullptr && backend->stands_for == "mlx") {
    cells.push_back({"mpsprobe run --matrix mlx", std::string(backend->word)});
  } else if (const Word* operation = first_of(evidence, kOperations); operation != nullptr) {
    cells.push_back({fmt::format("mpsprobe run --op {} --threads 1-8{}", operation->stands_for, on),
                     std::string(operation->word)});
  }
  if (cells.empty()) {
    cells.push_back({"mpsprobe run --matrix affected" + on,
                     backend == nullptr ? "" : std::string(backend->word)});
  }
  return cells;
}

}  // namespace mpsprobe
