#include "tools/runner/read/cells_to_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "harness/outcome/hang_title.h"
#include "harness/outcome/python_death.h"
#include "harness/signature/find_failures.h"
#include "harness/wire/ascii.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

constexpr auto npos = std::string_view::npos;

/// What words of the evidence stand for: one of them, a bar between each two.
struct Meaning {
  std::string_view stands_for;
  std::string_view words;
};

// Names that one backend's libraries alone have.
constexpr Meaning kBackends[] = {{"mlx", "mlx|MLX|metal::malloc|[METAL]"},
                                 {"cuda", "cuda|CUDA"},
                                 {"mps", "at::mps|at::native::mps|MPS"}};
// What all that use Apple's GPU stand on.
constexpr Meaning kLayers[] = {{"mps", "AGX|MTL|Metal|command buffer: |IOGPU"}};

// Matrices of known issues (scenarios/matrices).
constexpr Meaning kMatrices[] = {
    {"issue-108996", "nonzero|commit an already committed command buffer"},
    {"issue-100285", "Completed handler provided after commit call"},
    {"issue-197836", "A command encoder is already encoding"},
    {"issue-197805", "blitCommandEncoderCommon"},
    {"issue-167541", "exec_unary_kernel"},
    {"issue-173972", "orgqr|householder_product"},
    {"cuda-graphs", "when stream is capturing|CUDAGraph|CUDAGeneratorState"},
    {"stream-pool", "stream pool exhausted"}};

// Operations that LibTorch's workers have.
constexpr Meaning kOperations[] = {{"sdpa", "scaled_dot_product|sdpa"},
                                   {"linear", "linear|Linear"},
                                   {"addmm", "addmm"},
                                   {"bmm", "bmm"},
                                   {"matmul", "matmul"},
                                   {"linear", "MatrixMultiplication|A and B index not found"},
                                   {"softmax", "softmax"},
                                   {"layer_norm", "layer_norm|LayerNorm"},
                                   {"batch_norm", "batch_norm"},
                                   {"gelu", "gelu"},
                                   {"relu", "relu"},
                                   {"randn", "randn"},
                                   {"arange", "arange"},
                                   {"linspace", "linspace"},
                                   {"logspace", "logspace"},
                                   {"renorm", "renorm"},
                                   {"unary_mix", "exec_unary"}};

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

// What may choose cells, the strongest first: the title, what else was told, frames from the
// innermost on.
std::vector<std::string> evidence_of(const ProcessRecord& process, const Judgement& judgement) {
  constexpr size_t kMostFrames = 40;
  std::vector<std::string> evidence = {judgement.signature};
  for (const OtherFinding& other : judgement.also) evidence.push_back(other.title);
  const ThreadStack* hung = judgement.outcome == Outcome::hang ? hung_stack(process) : nullptr;
  const auto add_frames = [&](const std::vector<ThreadStack>& threads) {
    for (const ThreadStack& stack : threads) {
      if (!stack.faulting && stack.thread != kSideOfRace && &stack != hung) continue;
      for (size_t i = 0; i < std::min(stack.frames.size(), kMostFrames); ++i) {
        evidence.push_back(stack.frames[i].image + " " + stack.frames[i].function);
      }
    }
  };
  add_frames(process.stacks.threads);
  if (process.crash_report) add_frames(process.crash_report->threads);
  for (const StackFrame& frame : python_frames(process.err.text())) {
    evidence.push_back(frame.source + " " + frame.function);
  }
  // What stands around a title, last: it may name a class of a driver's.
  for (const Finding& finding : find_failures(process.err.text())) {
    evidence.push_back(finding.excerpt);
  }
  return evidence;
}

/// A word that the evidence holds, and what it stands for.
struct Found {
  std::string word;
  std::string stands_for;
};

std::optional<Found> first_of(const std::vector<std::string>& evidence,
                              std::span<const Meaning> meanings) {
  for (const std::string& text : evidence) {
    for (const Meaning& meaning : meanings) {
      for (const std::string_view word : split(meaning.words, '|')) {
        if (holds(text, word)) return Found{std::string(word), std::string(meaning.stands_for)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<CellsToRun> cells_to_run(const ProcessRecord& process, const Judgement& judgement) {
  const std::vector<std::string> evidence = evidence_of(process, judgement);
  std::vector<CellsToRun> cells;
  std::optional<Found> backend = first_of(evidence, kBackends);
  if (!backend) backend = first_of(evidence, kLayers);
  const std::string on = backend ? " --backend " + backend->stands_for : "";
  if (const auto matrix = first_of(evidence, kMatrices)) {
    cells.push_back({"mpsprobe run --matrix " + matrix->stands_for, matrix->word});
  }
  if (backend && backend->stands_for == "mlx") {
    cells.push_back({"mpsprobe run --matrix mlx", backend->word});
  } else if (const auto operation = first_of(evidence, kOperations)) {
    cells.push_back({fmt::format("mpsprobe run --op {} --threads 1-8{}", operation->stands_for, on),
                     operation->word});
  }
  if (cells.empty()) {
    cells.push_back({"mpsprobe run --matrix affected" + on, backend ? backend->word : ""});
  }
  return cells;
}

}  // namespace mpsprobe
