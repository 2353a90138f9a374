#include "harness/signature/rules.h"

namespace mpsprobe {
namespace {

using enum Mask::Begins;

constexpr std::string_view kPyTorch = "https://github.com/pytorch/pytorch";
constexpr std::string_view kCPython = "https://docs.python.org/3/library/exceptions.html";
constexpr std::string_view kTqdm = "https://github.com/tqdm/tqdm";
constexpr std::string_view kMadeUp = "made up";

// Progress bars, which are drawn within a line that somebody else writes.
// A row is read as one line, or as few.
// clang-format off
constexpr Mask kNoise[] = {
    {.name = "tqdm", .shape = "%d+%%| *[^|\n]*| *[^ \n]* ?%[[^%]\n]*%] ?", .source = kTqdm},
    {.name = "tqdm-without-end", .shape = "[%d?.]+{it|B|k|M|G}? %[%d+:%d%d[^%]\n]*%] ?",
     .source = kTqdm},
    {.name = "keras", .shape = "%d+/%d+ %[[=>.# -]+%]{ - }?",
     .source = "https://github.com/keras-team/keras"},
    {.name = "bar-in-brackets", .shape = "%d+%% ?%[[=>.# -]+%] ?", .source = kMadeUp},
};
// clang-format on

// What runtimes, loggers and programs put in front of a message. What the parentheses hold, and all
// behind it, is the message.
// A row is read as one line, or as few.
// clang-format off
constexpr Mask kLeads[] = {
    {.name = "error-type-within", .shape = "[^'\n]-%f[%w_.:]*{Error|Exception}: ()",
     .source = kCPython},
    {.name = "error-type", .shape = "[%w_.:]+{error|Error|Exit|Interrupt}: ()", .source = kCPython},
    {.name = "other-type", .shape = "[%w_.]-%f%u%l+%u%w*: ()%S+ %S+ %S+ %S", .source = kCPython},
    {.name = "stars", .shape = "%*%*%* ",
     .source = "https://developer.apple.com/documentation/foundation/nsexception"},
    {.name = "what", .shape = "what%(%): ?", .source = "https://gcc.gnu.org/git/?p=gcc.git"},
    {.name = "date", .shape = "%[?%d%d%d%d%-%d%d%-%d%d[T ]%d%d:%d%d:%d%d[%d.,:+Z]*%]? ",
     .source = "https://www.iso.org/iso-8601-date-and-time-format.html"},
    {.name = "glog", .shape = "%[?[IWEF]%d%d%d%d [^%]\n]-%] ",
     .source = "https://github.com/google/glog"},
    {.name = "numbered-tag", .shape = "%[[^%]:\n]-%d+%] ", .source = kMadeUp},
    {.name = "place-tag", .shape = "%[[^%]\n ]+ ?: ?%d+[^%]\n]-%] ", .source = kMadeUp},
    {.name = "level",
     .shape = "%[?{ERROR|FATAL|CRITICAL|Error|error|Fatal|fatal|exception|Exception|failed|"
              "FAILED}{: |] | - }()%S",
     .source = "https://docs.python.org/3/library/logging.html"},
    {.name = "level-within", .shape = "[^\n]-: {error|fatal error}: ()", .source = "made up"},
    {.name = "nserror-text", .shape = ".-Error Domain=[^' ]+ Code=%S+ '(",
     .source = "https://developer.apple.com/documentation/foundation/nserror"},
    {.name = "written-exception", .shape = "[%w_.]*{Error|Exception}%('()", .source = kCPython},
    {.name = "caught", .shape = "{caught |Caught |uncaught |Unhandled |Uncaught }()%S",
     .source = kMadeUp},
};
// clang-format on

// What is left out of a message, the first row that fits.
// A row is read as one line, or as few.
// clang-format off
constexpr Mask kMasks[] = {
    // --- what stands behind a message
    {.name = "raised-from", .shape = " Exception raised from ", .begins = anywhere,
     .ends_the_title = true, .source = kPyTorch},
    {.name = "triggered-internally", .shape = " ?%(Triggered internally at ", .begins = anywhere,
     .ends_the_title = true, .source = kPyTorch},
    {.name = "user-info", .shape = "'? UserInfo=?%{", .begins = anywhere, .ends_the_title = true,
     .source = "https://developer.apple.com/documentation/foundation/nserror"},
    {.name = "next-sentence", .shape = "([%l%)%]'>])[.!] %u%l", .stand_in = "@", .begins = anywhere,
     .ends_the_title = true, .source = kPyTorch},
    {.name = "what-was-found-instead",
     .shape = "[,;.]? %(?{but }?{instead }?{got|Got|found|received}{: |:| }", .begins = anywhere,
     .ends_the_title = true, .source = kPyTorch},

    {.name = "value-at-the-end", .shape = ": %-?%d[%w.]*%.?$", .begins = anywhere,
     .ends_the_title = true, .source = kMadeUp},
    {.name = "number-aside", .shape = " %(%-?%d[%w.]*%)", .begins = anywhere, .source = kMadeUp},
    {.name = "mpsgraph-location", .shape = "'%('%(mpsFileLoc%): [^\n]-%):? ?error: ",
     .stand_in = ": ", .begins = anywhere,
     .source = "https://github.com/guoyww/AnimateDiff/issues/173"},

    // --- places and names of files
    {.name = "url", .shape = "%a+://[^ '<>)%]}]+", .stand_in = "<url>", .source = kMadeUp},
    {.name = "source-file",
     .shape = "[~./]*[%w_~@+%%$=-]*/[%w_./~@+%%$=-]-([%w_+-]+%.{cpp|cc|c|h|hpp|mm|m|cu|cuh|py|"
              "rs|swift|metal|so|dylib|framework})%e",
     .stand_in = "@", .source = kPyTorch},
    {.name = "users-path", .shape = "{/|~/|./|../}[%w_./~@+%%$=-]*[%w_~@+%%$=-]",
     .stand_in = "<file>", .begins = apart, .source = kMadeUp},
    {.name = "data-file",
     .shape = "[%w_/][%w_/.-]*%.{pt|pth|bin|safetensors|gguf|onnx|npy|npz|json|txt|csv|yaml|"
              "ckpt}%e",
     .stand_in = "<file>", .source = kMadeUp},
    {.name = "line-number", .shape = ":%d+%e", .begins = within_a_name, .source = kMadeUp},

    // --- values
    {.name = "python-object", .shape = "<[^<>\n]- at 0x%x+>", .stand_in = "N",
     .source = "https://docs.python.org/3/reference/datamodel.html#object.__repr__"},
    {.name = "template-arguments", .shape = "%b<>", .begins = within_a_name, .source = kMadeUp},
    {.name = "torch-size", .shape = "torch%.Size%b()", .stand_in = "[N]", .source = kPyTorch},
    {.name = "list", .shape = "%[[%d, -]*%]", .stand_in = "[N]", .begins = apart,
     .source = kPyTorch},
    {.name = "tuple", .shape = "%([%d-][%d-]*,[%d, -]*%)", .stand_in = "[N]", .begins = apart,
     .source = kPyTorch},
    {.name = "null", .shape = "%(null%)", .stand_in = "N", .begins = anywhere, .source = kMadeUp},
    {.name = "device", .shape = "{cpu|cuda|mps|meta|xpu}{:}?%d*%e", .stand_in = "<device>",
     .begins = apart,
     .source = "https://pytorch.org/docs/stable/tensor_attributes.html#torch.device"},
    {.name = "tensor-type",
     .shape = "{torch.}?%u*{Float|Double|Half|BFloat16|Long|Int|Bool|Byte|Char|Short}{Type|"
              "Tensor}%e",
     .stand_in = "<type>", .source = kPyTorch},
    {.name = "scalar-type",
     .shape = "{c10::}?{ComplexFloat|ComplexDouble|ComplexHalf|Float|Double|Half|BFloat16|Long|"
              "Int|Bool|Byte|Char|Short|float|double|half|bool}%e",
     .stand_in = "<type>", .begins = apart, .source = kPyTorch},
    {.name = "dtype", .shape = "{float|int|uint|bfloat|complex|f|i|u|bf}%d+%e",
     .stand_in = "<type>",
     .source = "https://pytorch.org/docs/stable/tensor_attributes.html#torch.dtype"},
    {.name = "torch-dtype",
     .shape = "torch%.{bool|float|bfloat|int|uint|complex|long|half|double}%d*%e",
     .stand_in = "<type>",
     .source = "https://pytorch.org/docs/stable/tensor_attributes.html#torch.dtype"},
    {.name = "layout",
     .shape = "{torch.}?{strided|sparse_coo|sparse_csr|Strided|SparseCsr|Sparse}%e",
     .stand_in = "<layout>", .begins = apart,
     .source = "https://pytorch.org/docs/stable/tensor_attributes.html#torch.layout"},
    {.name = "uuid", .shape = "[%x%u]+-[%x%u]+-[%x%u]+-[%x%u]+-[%x%u]+%e", .stand_in = "N",
     .source = "https://www.rfc-editor.org/rfc/rfc9562"},
    {.name = "hash", .shape = "%x%x%x%x%x%x%x%x+%e", .stand_in = "N", .source = kMadeUp},
    {.name = "process-number", .shape = "%[%d+:%d+%]", .begins = within_a_name, .source = kMadeUp},
    {.name = "decimal", .shape = "-?%d%w*%.%d[%w.]*{e-|e+}?%d*", .stand_in = "N",
     .source = kMadeUp},
    {.name = "number", .shape = "-?%d%w*{-0}?%d*", .stand_in = "N", .source = kMadeUp},
};
// clang-format on

// What the lines of a process that ended itself say: the first row that fits.
// A row is read as one line, or as few.
// clang-format off
constexpr Telling kTelling[] = {
    // --- nothing
    {.name = "frame-of-a-stack", .rank = 0, .shape = " ?{#|frame #|0x|at |File '}",
     .source = kMadeUp},
    {.name = "raised-from", .rank = 0, .shape = "Exception raised from ", .source = kPyTorch},
    {.name = "numbered-frame", .rank = 0, .shape = " ?%d+ +%S+ +0x%x+ ", .source = kMadeUp},
    {.name = "glibc-frame", .rank = 0, .shape = ".-%[0x%x+%] ?$", .source = kMadeUp},
    {.name = "shells-echo", .rank = 0,
     .shape = ".-{Aborted|Abort trap|Segmentation fault|Bus error|Illegal instruction|"
              "Trace/BPT trap}[: %d(]*{core dumped}?%)?$",
     .source = "https://git.savannah.gnu.org/cgit/bash.git"},
    {.name = "zsh-echo", .rank = 0, .shape = "{zsh: |[1] }", .source = "https://www.zsh.org"},
    {.name = "torch-warning", .rank = 0, .shape = "%[?W%d%d%d%d ", .source = kPyTorch},
    {.name = "python-warning", .rank = 0, .shape = ".-:%d+: %u%w+Warning: ", .source = kCPython},
    {.name = "runtimes-echo", .rank = 0, .shape = "{libc++abi|terminate called|*** First throw}",
     .source = "https://github.com/llvm/llvm-project/tree/main/libcxxabi"},
    {.name = "mpsprobe", .rank = 0, .shape = "mpsprobe", .source = kMadeUp},
    {.name = "faulthandler", .rank = 0,
     .shape = "{Current thread |Thread 0x|Extension modules: |Fatal Python error: }",
     .source = "https://github.com/python/cpython"},
    {.name = "usage", .rank = 0, .shape = "{usage|Usage}: ", .source = kMadeUp},
    {.name = "announcement", .rank = 0, .shape = "[%a ]+: ?$", .source = kMadeUp},
    {.name = "no-failures", .rank = 0,
     .shape = ".-%f{0 errors|no errors|0 failures|errors: 0|failures: 0|0 failed}",
     .source = kMadeUp},
    {.name = "googletest-line", .rank = 0, .shape = "%[[-= %u]+%]",
     .source = "https://github.com/google/googletest"},
    {.name = "abort-called", .rank = 0, .shape = "abort%(%) called",
     .source = "https://github.com/apple-oss-distributions/Libc"},
    // --- an error by its name
    {.name = "error-type", .rank = 4, .shape = ".-%u[%w_]*{Error|Exception}: %S",
     .source = kCPython},
    {.name = "error-line", .rank = 4, .shape = ".-{ error|fatal error|Error|ERROR|FATAL}: %S",
     .source = kMadeUp},
    {.name = "nserror", .rank = 4, .shape = ".-Error Domain=", .source = kMadeUp},
    // --- words of trouble
    {.name = "error", .rank = 2, .shape = ".-{rror|RROR}", .source = kMadeUp},
    {.name = "fail", .rank = 2, .shape = ".-{fail|Fail|FAIL}", .source = kMadeUp},
    {.name = "fatal", .rank = 2, .shape = ".-{fatal|Fatal|FATAL}", .source = kMadeUp},
    {.name = "not", .rank = 2, .shape = ".-{ not |n't |cannot |Cannot |unable|Unable| no }",
     .source = kMadeUp},
    {.name = "bounds", .rank = 2,
     .shape = ".-{larger than|greater than|exceed|too |out of |overflow}", .source = kMadeUp},
    {.name = "demand", .rank = 2, .shape = ".-{must |should |xpect|equire}", .source = kMadeUp},
    {.name = "wrong", .rank = 2,
     .shape = ".-{nvalid|llegal|ismatch|wrong|orrupt|xception|bort|anic}", .source = kMadeUp},
    // --- the last line that says anything, but for one that counts
    {.name = "progress", .rank = 0,
     .shape = ".-%f{step|iteration|iterations|epoch|Epoch|round|loss|seed|done|took|finished|"
              "started|threads|ready|ok}{ |=|: |$}",
     .source = kMadeUp},
    {.name = "last-line", .rank = 1, .shape = ".-%a%a+.- %a%a+", .source = kMadeUp},
};
// clang-format on

}  // namespace

std::span<const Mask> noise() {
  return kNoise;
}

std::span<const Mask> leads() {
  return kLeads;
}

std::span<const Mask> masks() {
  return kMasks;
}

std::span<const Telling> telling() {
  return kTelling;
}

}  // namespace mpsprobe
