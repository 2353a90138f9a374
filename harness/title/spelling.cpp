#include "harness/title/spelling.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/text/ascii.h"
#include "harness/title/operator_names.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::lower;
using ascii::word_length;

// What stands in the left column is spelt as in the right one. Of PyTorch's messages the literals
// of its releases from 2.0.1 to 2.15.0 were compared.
constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
    {" whos ", " whose "},
    {" width (N)", " size (N)"},
    {" height (N)", " size (N)"},
    {" depth (N)", " size (N)"},
    {"Failed to created ", "Failed to create "},
    {" is not current ", " is not currently "},
    {"CuDNN error: ", "cuDNN error: "},
    {" missing Buffer binding", " missing buffer binding"},
    {"addmm: mat1 and mat2 ", "mat1 and mat2 "},
    {"mm: mat1 and mat2 ", "mat1 and mat2 "},
    {"mm: self must be a matrix", "self must be a matrix"},
    {"mm: mat2 must be a matrix", "mat2 must be a matrix"},
    {"upper bound and larger bound ", "upper bound and lower bound "},
    {" can not ", " cannot "},
    {" in use (current value < original value)", " in use"},
    {"Module N() ", "Module N(...) "},
    {" (inferred)' for argument ", "' for argument "},
    {" }", "}"},
    {" shape [] ", " shape [N] "},
    {" vs. N). ", " vs. N) "},
    {"basic_string::_S_construct null not valid",
     "basic_string: construction from null is not valid"},
    {"Data-dependent branching", "Dynamic control flow is not supported at the moment"},
    {": (Batch element N): ", ": "},
    {"The differentiated Tensor at index N appears", "One of the differentiated Tensors appears"},
    {"Can't get local object ", "Can't pickle local object "},
    {"copy_from_slice: source slice ", "source slice "},
    {"Attempting to fetch value instead of handling error ", "Bad StatusOr access: "},
    // What was misspelt in some releases.
    {" dimention", " dimension"},
    {" dimenions", " dimensions"},
    {"spacial", "spatial"},
    {"verriden", "verridden"},
    {"lenght", "length"},
    {"suppport", "support"},
    {"libarary", "library"},
    {"libary", "library"},
    {" primitive descriptor for the ", " primitive descriptor for a "},
    {" alising ", " aliasing "},
    {"sepcified", "specified"},
    {"specificed", "specified"},
    {" salar ", " scalar "},
    {" useable", " usable"},
    {" cann't ", " can't "},
    {" varible", " variable"},
    {"probabilty", "probability"},
    {"flattend", "flattened"},
    {" insided ", " inside "},
    {" extact ", " extract "},
    {"Unsupport ", "Unsupported "},
    {"missmatch", "mismatch"},
    {"Unknow ", "Unknown "},
    {"cound't", "couldn't"},
    {"Dyanmo", "Dynamo"},
    {" becuase ", " because "},
    {" atleast ", " at least "},
    {" dont ", " don't "},
    {" cant ", " can't "},
    {" casual mask", " causal mask"},
    {"MPSGaph", "MPSGraph"},
    {"MacOS", "macOS"},
    {"LPBPCG", "LOBPCG"},
    {" then or equal", " than or equal"},
    {" less then ", " less than "},
    {" more then ", " more than "},
    {" must by one of ", " must be one of "},
    {" be either be ", " either be "},
    // What was named anew.
    {" Execution Graph Observer", " Execution Trace Observer"},
    {"execution graph observer", "execution trace observer"},
    {"SingletonSymNode", "NestedIntSymNode"},
    {"impl_abstract(...)", "register_fake(...)"},
    {" abstract impl", " fake impl"},
    {"Both fused kernels ", "All fused kernels "},
    {" torch._C.DispatchKey", " DispatchKey"},
    {"gradOutput ", "grad_output "},
    {"Tuple[", "tuple["},
    {"List[", "list["},
    {"MALFORMED INPUT: ", ""},
    {"MALFORMED IR: ", ""},
    {"UNSUPPORTED DTYPE: ", ""},
    {"Expected either a CPUGeneratorImplStateLegacy of size N or a CPUGeneratorImplState of size",
     "Expected a CPUGeneratorImplState of size"},
    {"failed to recv", "Failed to recv"},
    {"Intel oneMKL ", "Intel MKL "},
    {" of type N to Python object", " to Python object"},
    {" when resuming scheduler", " when resuming an optimizer"},
    // What is said of a value.
    {" const <type>", " <type>"},
    {" on CPU does not support ", " does not support "},
    {" at index N of shape [N]", ""},
    {" beyond bounds [N .. N]", " beyond bounds"},
    {" beyond bounds for empty array", " beyond bounds"},
};

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

// "a input" is "an input", "an tuple" "a tuple". What begins with h or u can be either.
void mend_articles(std::string& text) {
  for (size_t i = text.find(" a"); i != std::string::npos; i = text.find(" a", i + 1)) {
    const bool an = at(text, i + 2) == 'n';
    const size_t space = i + (an ? 3 : 2);
    const char first = at(text, space + 1);
    if (at(text, space) != ' ' || !lower(first) || first == 'h' || first == 'u') continue;
    const bool vowel = std::string_view("aeio").find(first) != std::string_view::npos;
    if (vowel && !an) text.insert(i + 2, "n");
    if (!vowel && an) text.erase(i + 2, 1);
  }
}

// "take() missing 1 required positional argument", "take(): argument dim (position 1) must be int":
// how a call of an operator is refused hangs on how many overloads a release has.
void mend_refusal(std::string& text) {
  constexpr std::string_view kRefusals[] = {"() missing ",
                                            "() takes ",
                                            "() got an unexpected keyword ",
                                            "() got multiple values for ",
                                            "() got some positional-only ",
                                            "(): argument "};
  const size_t name = word_length(text);
  if (name == 0 || !is_operator_name(std::string_view(text).substr(0, name))) return;
  const std::string_view rest = std::string_view(text).substr(name);
  const bool refused =
      std::any_of(std::begin(kRefusals), std::end(kRefusals),
                  [rest](std::string_view refusal) { return rest.starts_with(refusal); });
  if (refused)
    text.replace(name, text.size() - name, "() received an invalid combination of arguments");
}

// "addmm_cpu not implemented for", "addmm_impl_cpu_ not implemented for": a kernel's name.
void mend_kernel(std::string& text) {
  constexpr std::string_view kEndings[] = {"_cpu",    "_cuda", "_mps", "_impl",
                                           "_kernel", "_out",  "_"};
  constexpr std::string_view kBehind[] = {" not implemented for ", "' not implemented for "};
  for (std::string_view behind : kBehind) {
    size_t end = text.find(behind);
    if (end == std::string::npos) continue;
    for (bool shorter = true; shorter;) {
      shorter = false;
      for (std::string_view ending : kEndings) {
        const std::string_view front = std::string_view(text).substr(0, end);
        if (!front.ends_with(ending) || front.size() <= ending.size()) continue;
        end -= ending.size();
        text.erase(end, ending.size());
        shorter = true;
      }
    }
    return;
  }
}

}  // namespace

std::string usual_spelling(std::string text) {
  mend_refusal(text);
  mend_kernel(text);
  for (const auto& [spelling, usual] : kSpellings) replace_all(text, spelling, usual);
  mend_articles(text);
  return text;
}

}  // namespace mpsprobe
