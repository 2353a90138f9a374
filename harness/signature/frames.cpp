#include "harness/signature/frames.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "harness/signature/function_name.h"
#include "harness/signature/rules.h"
#include "harness/signature/shape.h"
#include "harness/signature/written_stacks.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFrames = 1024;
constexpr size_t kDeep = 32;

// What kernels' names put behind an operator's; an operator that works in place counts as the
// other: "add_".
constexpr std::string_view kBehind =
    "(?:_(?:contiguous|cpu|cuda|helper|impl|internal|kernel|mps|out_frame|out|stub|template)?)*";

// "layer_norm_kernel" of "LayerNormKernel".
std::string in_small_letters(std::string_view name) {
  std::string small;
  for (char c : name) {
    if (ascii::upper(c) && !small.empty() && small.back() != '_') small += '_';
    small += ascii::to_lower(c);
  }
  return small;
}

/// The operator that a function of LibTorch's kernels belongs to: "aten::nll_loss2d_backward" of
/// "nll_loss2d_backward_out_frame" and of "structured_nll_loss2d_backward_out_cpu::impl", which
/// compilers inline into one another. `kernel` is as normalise_function writes it, behind
/// "at::native::". Empty where it is no such function, also of a class or of a backend's own
/// namespace, or its name tells no operator. Never throws but for lack of memory; may be called
/// from any thread.
std::string operator_of_kernel(std::string_view kernel) {
  static const Shape kKernel(
      "(?<before>(?:structured_|cpu_|direct_|cascade_|vectorized_(?:inner|outer)_)*)"
      "_*(?<name>\\w+?)(?<behind>" +
      std::string(kBehind) + ")(?:::impl)?$");
  const auto parts = kKernel.match(kernel, 0);
  if (parts && !((*parts)["before"].empty() && (*parts)["behind"].empty())) {
    return "aten::" + std::string((*parts)["name"]);
  }
  return parts && ascii::upper(kernel[0]) ? operator_of_kernel(in_small_letters(kernel)) : "";
}

/// The operator that a function hands a call on to: "aten::mul" of "at::_ops::mul_Scalar::call" and
/// of "torch::autograd::VariableType::mul_". Such functions are exported and stand on every stack,
/// whatever compilers inlined. Empty where it is no such function; otherwise as above.
std::string operator_of_call(std::string_view function) {
  // The overload begins with a type: "mul_Scalar".
  static const Shape kCall(
      "(?:at::_ops::|torch::autograd::VariableType::|torch::ADInplaceOrView::|at::wrapper_CPU_)"
      "_*(?<name>\\w+?)" +
      std::string(kBehind) + "(?:_[A-Z]\\w*)?(?:::|$)");
  const auto parts = kCall.match(function, 0);
  return parts ? "aten::" + std::string((*parts)["name"]) : "";
}

struct Seen {
  std::string image;
  std::string function;
  std::string destroys;  ///< the destructor that this one does nothing but call
  const PassingFrame* passing = nullptr;
  bool module = false;  ///< of a compiled module that has no symbols
};

// "lanes::Step::~Step" of "std::unique_ptr<lanes::Step, ...>::~unique_ptr()": builds inline the one
// into the other.
std::string destroyed_by(std::string_view function) {
  static const Shape kPointer(
      R"(std::(?:__1::)?(?:unique|shared)_ptr<(?<type>(?:[^<>,]|(?<inner><(?:[^<>]|(?&inner))*>))+)[,>])"
      R"(.*::~)");
  const auto pointer = kPointer.match(function, 0);
  if (!pointer) return "";
  const std::string type = normalise_function((*pointer)["type"]);
  return type.empty() ? "" : type + "::~" + type.substr(type.rfind(':') + 1);  // npos + 1 is 0
}

// A jump to nowhere: the first frame lies in no image, the caller tells who jumped.
bool nowhere(const Seen& frame) {
  return frame.image.empty() && frame.function.empty();
}

std::vector<Seen> look_at(const std::vector<StackFrame>& frames) {
  std::vector<Seen> seen;
  const size_t count = std::min(frames.size(), kMostFrames);
  seen.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const bool python = in_python(frames[i].image);
    Seen frame{normalise_image(frames[i].image),
               python ? frames[i].function : normalise_function(frames[i].function),
               destroyed_by(frames[i].function)};
    frame.passing = find_passing_frame(frame.image, frame.function);
    if (frame.function.empty()) {
      // The rows of compiled modules need the part of the name that is left out of titles.
      const PassingFrame* row = find_passing_frame(frames[i].image, "");
      frame.module = row != nullptr && row->image.starts_with("*.");
      if (frame.module) frame.passing = row;
    }
    // What the handler did before the trampoline is no part of the failure.
    if (frame.passing != nullptr && frame.passing->meaning == Passing::trampoline) {
      seen.clear();
      continue;
    }
    seen.push_back(std::move(frame));
  }
  return seen;
}

// A library without symbols of its own still names what it exports: the function that it was
// entered by, where the frames up to there are all its own.
StackTitle entry_of(const std::vector<Seen>& seen, size_t unnamed) {
  const std::string& image = seen[unnamed].image;
  for (size_t i = unnamed + 1; i < seen.size() && seen[i].image == image && !image.empty(); ++i) {
    if (seen[i].passing != nullptr) break;
    if (!seen[i].function.empty()) return {StackTitle::Kind::entry, seen[i].function, image, {}};
  }
  return {StackTitle::Kind::unnamed, "", image, {}};
}

StackTitle innermost(const std::vector<Seen>& seen) {
  StackTitle weak;  // the first that passes things on and has a name
  bool weak_of_interpreter = false;
  bool heap = false;
  for (size_t i = 0; i < seen.size(); ++i) {
    const Seen& frame = seen[i];
    if (nowhere(frame)) {
      if (i == 0) continue;  // a jump to nowhere is its caller's
      // Further down it is code of an image that nobody noted, and may be the guilty one.
      return {heap ? StackTitle::Kind::heap : StackTitle::Kind::unnamed, "", "", {}};
    }
    if (frame.passing == nullptr) {
      if (heap) return {StackTitle::Kind::heap, frame.function, frame.image, {}};
      if (frame.function.empty()) return entry_of(seen, i);
      return {StackTitle::Kind::function, frame.function, frame.image, {}};
    }
    heap = heap || frame.passing->meaning == Passing::allocator;
    const bool named = !frame.function.empty() && frame.passing->meaning != Passing::placeholder;
    if (weak.kind == StackTitle::Kind::none && named &&
        frame.passing->meaning != Passing::thread_entry &&
        frame.passing->meaning != Passing::teardown && frame.passing->meaning != Passing::ending) {
      weak = {StackTitle::Kind::passing, frame.function, frame.image, {}};
      weak_of_interpreter = frame.passing->meaning == Passing::interpreter;
    }
  }
  if (heap) return {StackTitle::Kind::heap, "", "", {}};
  const auto module =
      std::find_if(seen.begin(), seen.end(), [](const Seen& frame) { return frame.module; });
  if ((weak.kind == StackTitle::Kind::none || weak_of_interpreter) && module != seen.end()) {
    return {StackTitle::Kind::unnamed, "", module->image, {}};
  }
  return weak;
}

// The rows that say so of the frames above the one that counts, each once.
std::vector<std::string> passed_over(const std::vector<Seen>& seen) {
  std::vector<std::string> rows;
  for (const Seen& frame : seen) {
    if (frame.passing == nullptr) break;
    const PassingFrame& row = *frame.passing;
    std::string name = "passing " + std::string(row.function.empty() ? row.image : row.function);
    if (std::find(rows.begin(), rows.end(), name) == rows.end()) rows.push_back(std::move(name));
  }
  return rows;
}

// Of the functions that repeat, the first by name: which of them a stack ends in is chance.
std::string first_repeated(const std::map<std::string, size_t>& counts) {
  size_t named = 0;
  size_t most = 0;
  for (const auto& [function, count] : counts) {
    named += count;
    most = std::max(most, count);
  }
  size_t repeated = 0;
  std::string first;
  for (const auto& [function, count] : counts) {
    if (count < 4 || count * 2 < most) continue;
    repeated += count;
    if (first.empty()) first = function;
  }
  return repeated * 2 > named ? first : "";
}

// Where the standard library recurses alone, as std::regex does, the function that it always comes
// back to.
std::string most_repeated(const std::map<std::string, size_t>& counts) {
  const auto most = std::max_element(
      counts.begin(), counts.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  return most != counts.end() && most->second >= kDeep / 4 ? most->first : "";
}

// The operator of LibTorch's that `function`, which titles the stack, works for. A kernel is
// called through a pointer, so that it stands on every stack by its own name.
std::string operator_at_work(const std::vector<Seen>& seen, const std::string& function) {
  constexpr std::string_view kNative = "at::native::";
  if (function.starts_with(kNative)) {
    std::string named = operator_of_kernel(std::string_view(function).substr(kNative.size()));
    if (!named.empty()) return named;
  }
  static const Shape kOperators(
      "at::(?:_ops::|native::|mkl::|wrapper_)|torch::(?:autograd::V|ADInplaceOrView::)");
  const auto of_operators = [](const std::string& name) {
    return kOperators.match(name, 0).has_value();
  };
  const bool kernel = function.find("kernel") != std::string::npos;
  if (!of_operators(function) || kernel || function.starts_with("at::native::mps::")) return "";
  auto frame = std::find_if(seen.begin(), seen.end(),
                            [&](const Seen& each) { return each.function == function; });
  for (; frame != seen.end(); ++frame) {
    if (std::string called = operator_of_call(frame->function); !called.empty()) return called;
    if (frame->passing == nullptr && !of_operators(frame->function)) break;
  }
  return "";
}

}  // namespace

bool in_python(std::string_view image) {
  return image.ends_with(".py") || image.ends_with(".pyw") || image.starts_with('<') ||
         image == kPythonsLibrary;
}

StackTitle title_of_stack(const std::vector<StackFrame>& frames) {
  const std::vector<Seen> seen = look_at(frames);
  StackTitle title = innermost(seen);
  title.why = passed_over(seen);
  const std::string operation = operator_at_work(seen, title.function);
  if (!operation.empty()) title.function = operation;
  // A loop that names its operator needs no caller.
  if (title.kind == StackTitle::Kind::passing && !operation.empty()) {
    title.kind = StackTitle::Kind::function;
  }
  return title;
}

std::string recursive_function(const std::vector<StackFrame>& frames) {
  const std::vector<Seen> seen = look_at(frames);
  if (seen.size() < kDeep) return "";
  std::map<std::string, size_t> counts;
  std::map<std::string, size_t> of_library;
  for (const Seen& frame : seen) {
    if (frame.function.empty()) continue;
    if (frame.passing == nullptr) ++counts[frame.function];
    if (frame.passing != nullptr && frame.passing->meaning == Passing::standard) {
      ++of_library[frame.destroys.empty() ? frame.function : frame.destroys];
    }
  }
  if (std::string first = first_repeated(counts); !first.empty()) return first;
  return most_repeated(of_library);
}

}  // namespace mpsprobe
