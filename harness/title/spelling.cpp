#include "harness/title/spelling.h"

#include <algorithm>
#include <utility>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::lower;

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

}  // namespace

std::string usual_spelling(std::string text) {
  for (const auto& [spelling, usual] : kSpellings) replace_all(text, spelling, usual);
  mend_articles(text);
  return text;
}

}  // namespace mpsprobe
