#include "reproducers/bundle/redaction/typed_values.h"

#include <iterator>

#include "harness/signature/shape.h"
#include "reproducers/bundle/redaction/software_names.h"
#include "reproducers/bundle/redaction/software_text.h"

namespace mpsprobe {
namespace {

/// Each at the begin of a word or of a mark. No shape is of a text of people: a number is short
/// and beside no other, has a unit, or a form that numbers of people do not have.
constexpr const char* kShapes[] = {
    // Numbers.
    "0x(?:0{4}[0-9a-f]{12}|[0-9a-f]{1,12})(?!\\w)",
    "(?<![\\d.$])(?<!\\d[ ,./()-])\\d{1,2}(?![ ./()-]{0,2}\\d)(?!,\\d)(?!\\w)",
    "(?<![\\d.,$])v?\\d{1,3}\\.\\d{1,3}(?:\\.\\d{1,3})?"
    "(?:[.+-]?(?:dev|rc|a|b|post|cpu|cu|git|alpha|beta)\\d{0,12})*(?![.-]?\\w)",
    "(?<![\\d.,])\\d{1,20}(?:\\.\\d{1,3})? ?(?:bytes?|[KMGT]i?B|ns|us|ms|s|%)(?!\\w)",
    "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?(?:Z|[+-]\\d{4})?(?!\\w)",
    "(?:\\d\\d:)?\\d\\d:\\d\\d(?:[.,]\\d{1,9})?(?!\\w)",
    "-?0\\.\\d{1,20}(?!\\w)",
    "-?\\d\\.\\d{1,20}e[-+]\\d{1,3}(?!\\w)",
    // Systems and devices.
    "macOS \\d{2}(?:\\.\\d{1,2}){0,2}(?: \\((?:Build "
    ")?\\d\\d[A-Z]\\d{1,5}[a-z]?\\))?(?!\\w)",
    "(?:Mac|MacBook(?:Pro|Air)|iMac|Macmini|MacPro)\\d{1,2},\\d{1,2}(?!\\w)",
    "Apple (?:[AM]\\d{1,2}(?: (?:Pro|Max|Ultra))?|Paravirtual device)(?!\\w)",
    "NVIDIA (?:GeForce |Quadro |Tesla |TITAN )?(?:[A-Z]{1,3} )?[A-Z]{0,2}\\d{1,4}[A-Z]{0,2}"
    "(?:[ -](?:Ti|SUPER|PCIe|SXM\\d?|NVL|HBM\\d\\w?|\\d{1,3}GB|Laptop|GPU))*(?!\\w)",
    "(?:mps|cuda|cpu|gpu):\\d{1,2}(?!\\w)",
    "(?:float|int|uint|bfloat|complex|Float|Int|UInt|BFloat)\\d{1,3}(?!\\w)",
    // What systems, runtimes and languages say.
    "(?:SIG[A-Z]{2,6}|(?:KERN|EXC|MTL|kIO[A-Z])[A-Za-z]*_?[A-Z_]{2,30})(?!\\w)",
    "(?:[0-9a-f]{8}:)?kIOGPU\\w{4,60}(?!\\w)",
    "(?:NS|MTL|_MTL|MPS|AGX|IOGPU|CF)[A-Z][A-Za-z]{3,60}(?:\\.mm?:\\d{1,5})?(?!\\w)",
    "(?:Code=|ggml[\\w-]{0,20}\\.(?:c|cpp|cu|mm?):)\\d{1,5}(?!\\w)",
    "(?:(?:python|objc|dyld)[\\[(]|pid[= ])\\d{1,7}(?!\\w)",
    "(?<===)\\d{1,7}(?===)",
    "_{1,3}ZNK?(?:2at|3c10|5torch|3mlx|St)\\w{1,400}",
    "[-+]\\[_?(?:MTL|MPS|AGX|IOGPU|IOAccel|NS|CA|OS_)\\w{0,60}(?:\\(\\w{1,40}\\))? "
    "[\\w:]{1,200}\\](?::\\d{1,5})?",
    "(?:at|c10|torch|caffe2|mlx|std|mpsprobe|AGX|__gnu_cxx|__cxxabiv1|at_mps|cuda|thrust)"
    "(?:::[~\\w]+)+(?!\\w)",
    "(?:Type|Key|Value|Index|Name|OS|IO|Runtime|Attribute|Import|Memory|Assertion"
    "|NotImplemented|ModuleNotFound|ZeroDivision|Recursion|Timeout|Permission|Overflow)"
    "Error(?!\\w)",
    "com\\.(?:apple|Metal)\\.[\\w.-]{1,60}(?!\\w)",
    "(?:what\\(\\)|line \\d{1,6}|[Tt]hread \\d{1,4}(?: Crashed)?|frame #\\d{1,4}"
    "|failed|failed assertion|Assertion failed|Check failed|abort\\(\\) called)(?!\\w)",
    "File(?= \")",
    "(?:bad access|illegal instruction|trap|arithmetic error|abort|hang)(?: in)?(?!\\w)",
    "race(?: on vptr)?(?=: )",
    "(?:Previous |previous )?(?:[Aa]tomic )?(?:[Rr]ead|[Ww]rite) of size \\d{1,4}"
    " by (?:main thread|thread T\\d{1,4})(?!\\w)",
    // Paths.
    "/AppleInternal/Library/BuildRoots/(?:[\\w.+-]{1,80}/"
    ")*[\\w.+-]{1,80}(?::\\d{1,5}){0,2}",
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all(std::begin(kShapes), std::end(kShapes));
  return all;
}

bool is_path_byte(char c) {
  return is_word_byte(c) || std::string_view("/.+-@[]").find(c) != std::string_view::npos;
}

/// What of the path at text[at] may stay: begin and end; equal where nothing may.
std::pair<size_t, size_t> path_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_path_byte(text[end])) ++end;
  const std::string_view path = text.substr(at, end - at);
  if (is_path_of_the_system(path)) return {at, end};
  if (const size_t place = place_in_a_package(path); place != path.npos) return {at + place, end};
  const size_t last = path.find_last_of('/') + 1;
  return is_name_of_the_software(path.substr(last)) ? std::pair{at + last, end} : std::pair{at, at};
}

}  // namespace

void mark_typed_values(std::string_view text, std::vector<bool>& keep) {
  const auto mark = [&keep](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) keep[i] = true;
  };
  for (size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && is_word_byte(text[at]) && is_word_byte(text[at - 1])) continue;
    for (const Shape& shape : shapes()) {
      if (const auto match = shape.match(text, at)) mark(match->begin, match->end);
    }
    if (at > 0 && is_path_byte(text[at - 1])) continue;
    const auto [begin, end] = path_at(text, at);
    mark(begin, end);
  }
}

bool is_typed_value(std::string_view text) {
  std::vector<bool> keep(text.size());
  mark_typed_values(text, keep);
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_word_byte(text[i]) && !keep[i]) return false;
  }
  return !text.empty();
}

}  // namespace mpsprobe
