#include "harness/signature/rules.h"

namespace mpsprobe {
namespace {

using enum TextClass;

constexpr std::string_view kMetal =
    "https://developer.apple.com/documentation/xcode/validating-your-apps-metal-api-usage";
constexpr std::string_view kPyTorch = "https://github.com/pytorch/pytorch";
constexpr std::string_view kGlibc = "https://sourceware.org/git/?p=glibc.git";
constexpr std::string_view kLlvm = "https://github.com/llvm/llvm-project";
constexpr std::string_view kGraph = "https://github.com/guoyww/AnimateDiff/issues/173";
constexpr std::string_view kGcc = "https://gcc.gnu.org/git/?p=gcc.git";
constexpr std::string_view kGgml = "https://github.com/ggml-org/llama.cpp";
constexpr std::string_view kCPython = "https://github.com/python/cpython";
constexpr std::string_view kRust = "https://github.com/rust-lang/rust";
constexpr std::string_view kSwift = "https://github.com/swiftlang/swift";
constexpr std::string_view kLibmalloc = "https://github.com/apple-oss-distributions/libmalloc";
constexpr std::string_view kFoundation =
    "https://developer.apple.com/documentation/foundation/nsexception";
constexpr std::string_view kGoogleTest = "https://github.com/google/googletest";
constexpr std::string_view kLoaders = "https://github.com/apple-oss-distributions/dyld";

// A row is read as one line, or as few.
// clang-format off
constexpr Form kForms[] = {
    // --- exceptions that nobody caught
    {.name = "libstdc++-terminate", .text_class = exception, .title = "",
     .anchor = "terminate called after throwing an instance of '",
     .shape = "terminate called after throwing an instance of '[^\n]-'\n%A- ?what%(%): ?(.+)$",
     .takes_leads = true, .uncaught = true, .source = kGcc},
    {.name = "libstdc++-terminate-without-text", .text_class = exception,
     .title = "exception of type ", .anchor = "terminate called after throwing an instance of '",
     .shape = "terminate called after throwing an instance of '([^'\n]+)", .uncaught = true,
     .mute = true, .source = kGcc},
    {.name = "libc++abi-terminate", .text_class = exception, .title = "",
     .anchor = "uncaught exception of type ", .shape = "uncaught exception of type [^\n]-: (.+)$",
     .takes_leads = true, .uncaught = true, .source = kLlvm},
    {.name = "libc++abi-terminate-without-text", .text_class = exception,
     .title = "exception of type ", .anchor = "uncaught exception of type ",
     .shape = "uncaught exception of type ([^:\n]+)", .uncaught = true, .mute = true,
     .source = kLlvm},
    {.name = "torchscript-interpreter", .text_class = exception, .title = "",
     .anchor = "operation failed in the TorchScript interpreter.",
     .shape = "operation failed in the TorchScript interpreter%.%A-\n[%w_.]*Error: (.+)",
     .takes_leads = true, .source = kPyTorch},
    {.name = "nsexception", .text_class = exception, .title = "", .anchor = "ncaught exception '",
     .shape = "ncaught exception '[%w_.]+', reason: '(%A-)'{\n|$}", .takes_leads = true,
     .uncaught = true, .source = kFoundation},
    {.name = "nsexception-within-a-line", .text_class = exception, .title = "",
     .anchor = "ncaught exception '", .shape = "ncaught exception '[%w_.]+', reason: '([^\n]+)",
     .takes_leads = true, .uncaught = true, .source = kFoundation},

    // --- assertions
    {.name = "metal-validation", .text_class = assertion, .title = "assertion: ",
     .anchor = "failed assertion '",
     .shape = "failed assertion '[%w ]-Validation[\n ]*([^\n '].-)$", .place = Place::after_source,
     .source = kMetal},
    {.name = "metal-assertion", .text_class = assertion, .title = "assertion: ",
     .anchor = "failed assertion '",
     .shape = "failed assertion '({!<private>}[^%%\n].-)'?[%])},. ]*$",
     .place = Place::after_source, .source = kMetal},
    {.name = "metal-assertion-without-quotes", .text_class = assertion, .title = "assertion: ",
     .anchor = "failed assertion ", .shape = "failed assertion ([^'%%].-) at line %d+",
     .place = Place::after_source, .source = kMetal},
    {.name = "metal-assertion-without-a-quote", .text_class = assertion, .title = "assertion: ",
     .anchor = "failed assertion ", .shape = ".-{]:|.mm:}%d+: ?failed assertion ([^'%% \n].-)'?$",
     .from_the_line = true, .place = Place::after_source, .source = kMetal},
    {.name = "metal-assertion-without-text", .text_class = assertion, .title = "assertion: in ",
     .anchor = "failed assertion",
     .shape = ".-([-+]%[[^%]\n]+%]):%d+: failed assertion ?'?{<private>}?'?$",
     .from_the_line = true, .place = Place::after_source, .source = kMetal},
    {.name = "metal-error-line", .text_class = assertion, .title = "assertion: ",
     .anchor = "], line ", .shape = "%], line %d+: error '({!<private>}%A-)'", .source = kMetal},
    {.name = "metal-error-line-without-text", .text_class = assertion, .title = "assertion: in ",
     .anchor = "], line ", .shape = ".-([-+]%[[^%]\n]+%]), line %d+: error '<private>'",
     .from_the_line = true, .source = "https://github.com/water-rs/waterui/issues/308"},
    {.name = "glibc-assert", .text_class = assertion, .title = "assertion: ",
     .anchor = "Assertion '", .shape = "Assertion '(.-)' failed", .place = Place::after_source,
     .source = kGlibc},
    {.name = "libc++-assert", .text_class = assertion, .title = "assertion: ",
     .anchor = "assertion ", .shape = "assertion (%S.-) failed: ", .place = Place::after_source,
     .source = kLlvm},
    {.name = "libc++-old-assert", .text_class = assertion, .title = "assertion: ",
     .anchor = "_LIBCPP_ASSERT '", .shape = "_LIBCPP_ASSERT '(.-)' failed",
     .place = Place::after_source, .source = kLlvm},
    {.name = "libstdc++-debug-mode", .text_class = assertion, .title = "libstdc++: ",
     .anchor = "Error: attempt to ", .shape = "Error: (attempt to .+)", .place = Place::line_start,
     .source = kGcc},
    {.name = "check-failed-in-quotes", .text_class = assertion, .title = "assertion: ",
     .anchor = "Check '", .shape = "Check '(.-)' failed", .place = Place::after_source,
     .source = "made up"},
    {.name = "glog-check", .text_class = assertion, .title = "assertion: ",
     .anchor = "] Check failed: ", .shape = "%] Check failed: (.+)",
     .source = "https://github.com/google/glog"},
    {.name = "cuda-assert", .text_class = assertion, .title = "assertion: ",
     .anchor = "] Assertion ", .shape = "%] Assertion '?(.-)'? failed",
     .source = "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#assertion"},
    {.name = "macos-assert", .text_class = assertion, .title = "assertion: ",
     .anchor = "Assertion failed: ", .shape = "Assertion failed: %(?(.-)%)?, {function|file|at} ",
     .place = Place::after_source, .source = "https://github.com/apple-oss-distributions/Libc"},
    {.name = "assertion-failed", .text_class = assertion, .title = "assertion: ",
     .anchor = "Assertion failed: ", .shape = "Assertion failed: (.+)$",
     .place = Place::after_source, .source = "https://github.com/apple-oss-distributions/Libc"},
    {.name = "foundation-assertion", .text_class = assertion, .title = "assertion: failure in ",
     .anchor = "*** Assertion failure in ", .shape = "%*%*%* Assertion failure in (.+)",
     .source = "https://developer.apple.com/documentation/foundation/nsassertionhandler"},
    {.name = "ggml-assert-of-nothing", .text_class = assertion, .title = "assertion: ",
     .anchor = "GGML_ASSERT", .shape = ".-([%w_-]+%.%a+:%d+: {GGML_ASSERT(}?{false|0})%e",
     .from_the_line = true, .source = kGgml},
    {.name = "ggml-assert", .text_class = assertion, .title = "assertion: ",
     .anchor = "GGML_ASSERT(", .shape = "GGML_ASSERT%((.-)%) failed", .place = Place::after_source,
     .source = kGgml},
    {.name = "ggml-old-assert", .text_class = assertion, .title = "assertion: ",
     .anchor = "GGML_ASSERT: ", .shape = "GGML_ASSERT: [^ \n]-:%d+: (.+)", .source = kGgml},
    {.name = "ggml-unsupported", .text_class = assertion, .title = "ggml: unsupported op: ",
     .anchor = "error: unsupported op '", .shape = "error: unsupported op '(.-)'", .source = kGgml},
    {.name = "torch-internal-assert-of-nothing", .text_class = exception,
     .title = "exception: internal assert: ", .anchor = " INTERNAL ASSERT FAILED at ",
     .shape = "[^=<>!\n]-%f{false|0} INTERNAL ASSERT FAILED at .-, please report a bug to "
              "PyTorch%. (%S.+)",
     .from_the_line = true, .source = kPyTorch},
    {.name = "torch-internal-assert-behind-words", .text_class = exception,
     .title = "exception: internal assert: ", .anchor = " INTERNAL ASSERT FAILED at ",
     .shape = ".*: (.-) INTERNAL ASSERT FAILED at", .from_the_line = true, .source = kPyTorch},
    {.name = "torch-internal-assert", .text_class = exception,
     .title = "exception: internal assert: ", .anchor = " INTERNAL ASSERT FAILED at ",
     .shape = "(.-) INTERNAL ASSERT FAILED at", .from_the_line = true, .source = kPyTorch},

    // --- the GPU
    {.name = "cuda-error", .text_class = exception, .title = "exception: CUDA error: ",
     .anchor = "CUDA error: ", .shape = "CUDA error: (.+)", .place = Place::unwarned,
     .source = kPyTorch},
    {.name = "command-buffer-nserror", .text_class = gpu_error, .title = "command buffer: ",
     .anchor = "Error Domain=MTLCommandBufferErrorDomain ",
     .shape = "Error Domain=MTLCommandBufferErrorDomain Code=%d+ '([^'\n]-)['(]",
     .source = "https://developer.apple.com/documentation/metal/mtlcommandbuffererror"},
    {.name = "command-buffer-status", .text_class = gpu_error, .title = "command buffer: ",
     .anchor = "command buffer exited with error status",
     .shape = "command buffer exited with error status%A-%(null%)%s*\n%s*([^(\n]-) %(%x+:",
     .source = "https://github.com/jax-ml/jax/issues/19110"},
    {.name = "command-buffer-aborted", .text_class = gpu_error, .title = "command buffer: ",
     .anchor = "Execution of the command buffer was aborted",
     .shape = "Execution of the command buffer was aborted due to an error during execution%. "
              "([^('\n]-) %(",
     .source = "https://developer.apple.com/documentation/metal/mtlcommandbuffererror"},
    {.name = "command-buffer-execution-failed", .text_class = gpu_error,
     .title = "command buffer: ", .anchor = "ommand buffer execution failed: ",
     .shape = "ommand buffer execution failed: ([^('\n]-) %(%x+:",
     .source = "https://github.com/ml-explore/mlx"},
    {.name = "command-buffer-failed", .text_class = gpu_error,
     .title = "command buffer: ended with an error",
     .anchor = "command buffer exited with error status",
     .shape = "command buffer exited with error status()", .mute = true,
     .source = "https://github.com/jax-ml/jax/issues/19110"},
    {.name = "command-buffer-aborted-without-cause", .text_class = gpu_error,
     .title = "command buffer: ended with an error",
     .anchor = "Execution of the command buffer was aborted due to an error",
     .shape = "Execution of the command buffer was aborted due to an error()", .mute = true,
     .source = "https://developer.apple.com/documentation/metal/mtlcommandbuffererror"},
    {.name = "ggml-command-buffer-status", .text_class = gpu_error,
     .title = "command buffer: ended with an error", .anchor = "failed with status 5",
     .shape = ".-command buffer %d+ failed with status 5()", .from_the_line = true, .mute = true,
     .source = kGgml},

    // --- not supported here
    {.name = "mps-does-not-support", .text_class = unsupported, .title = "unsupported: ",
     .anchor = "MPS does not support ", .shape = "(MPS does not support .- op{s}? with .- input)",
     .place = Place::unwarned, .source = "https://github.com/h2oai/h2ogpt/issues/464"},
    {.name = "mps-input-type", .text_class = unsupported, .title = "unsupported: ",
     .anchor = "support input type '",
     .shape = ".-(Operation '[^'\n]+' [%w' ]-support input type '.-' in MPS backend)",
     .from_the_line = true, .place = Place::unwarned,
     .source = "https://github.com/pytorch/pytorch/issues/79200"},
    {.name = "supported-from-macos", .text_class = unsupported, .title = "unsupported: ",
     .anchor = " is supported natively starting from macOS",
     .shape = ".-([^:\n]+ is supported natively starting from macOS)", .from_the_line = true,
     .place = Place::unwarned, .source = kPyTorch},
    {.name = "not-implemented-for-a-type", .text_class = unsupported, .title = "unsupported: ",
     .anchor = "' not implemented for '", .shape = ".-('[%w_]+' not implemented for '[%w_]+')",
     .from_the_line = true, .place = Place::unwarned, .source = kPyTorch},
    {.name = "could-not-run-on-a-backend", .text_class = unsupported, .title = "unsupported: ",
     .anchor = "Could not run '",
     .shape = "(Could not run '[%w_:.]+' with arguments from the '%w+' backend)",
     .place = Place::unwarned, .source = "https://github.com/karpathy/nanoGPT/pull/120"},
    {.name = "operator-not-implemented-for-mps", .text_class = unsupported,
     .title = "operator not implemented for MPS: ", .anchor = "he operator '",
     .shape = "he operator '([%w_:.]+)' is not [%w ]-implemented for the MPS device",
     .place = Place::unwarned, .known = true, .source = kPyTorch},

    // --- what a loader could not do
    {.name = "dyld-library", .text_class = setup_failed, .title = "library not loaded: ",
     .anchor = "Library not loaded: ", .shape = "Library not loaded: ([^ ,\n]+)",
     .place = Place::unwarned, .known = true, .source = kLoaders},
    {.name = "cannot-open-shared-object", .text_class = setup_failed,
     .title = "library not loaded: ", .anchor = ": cannot open shared object file: No such file",
     .shape = ".-([^ \n]+): cannot open shared object file: No such file", .from_the_line = true,
     .place = Place::unwarned, .known = true, .source = kGlibc},
    {.name = "symbol-lookup", .text_class = setup_failed, .title = "symbol not found: ",
     .anchor = "undefined symbol: ", .shape = "undefined symbol: ([%w_.$@]+)",
     .place = Place::unwarned, .known = true, .source = kGlibc},
    {.name = "dyld-symbol", .text_class = setup_failed, .title = "symbol not found: ",
     .anchor = "Symbol not found: ", .shape = "Symbol not found: %(?([%w_.$]+)",
     .place = Place::unwarned, .known = true, .source = kLoaders},
    {.name = "dyld-flat-namespace", .text_class = setup_failed, .title = "symbol not found: ",
     .anchor = "symbol not found in flat namespace ",
     .shape = "symbol not found in flat namespace %(?'?([%w_.$]+)", .place = Place::unwarned,
     .known = true, .source = kLoaders},
    {.name = "dlopen-of-a-module", .text_class = setup_failed, .title = "cannot load ",
     .anchor = "ImportError: dlopen(", .shape = "ImportError: dlopen%(([^ ,)\n]+)", .known = true,
     .mute = true, .source = kCPython},
    {.name = "python-module", .text_class = setup_failed, .title = "Python module missing: ",
     .anchor = "ModuleNotFoundError: No module named ",
     .shape = "ModuleNotFoundError: No module named '?([%w_.]+)", .known = true,
     .source = kCPython},

    // --- the heap
    {.name = "libmalloc", .text_class = memory_corruption, .title = "malloc: ",
     .anchor = "malloc: *** error for object", .shape = "malloc: %*%*%* error for object %S+: (.+)",
     .source = kLibmalloc},
    {.name = "address-sanitizer", .text_class = memory_corruption, .title = "AddressSanitizer: ",
     .anchor = "ERROR: AddressSanitizer: ", .shape = "ERROR: AddressSanitizer: ([%w-]+)",
     .known = true, .source = kLlvm},
    {.name = "memory-sanitizer", .text_class = memory_corruption, .title = "MemorySanitizer: ",
     .anchor = "WARNING: MemorySanitizer: ", .shape = "WARNING: MemorySanitizer: ([%w-]+)",
     .known = true, .source = kLlvm},
    {.name = "leak-sanitizer", .text_class = memory_corruption, .title = "LeakSanitizer: ",
     .anchor = "ERROR: LeakSanitizer: ", .shape = "ERROR: LeakSanitizer: (.+)", .known = true,
     .source = kLlvm},
    {.name = "thread-sanitizer", .text_class = memory_corruption, .title = "ThreadSanitizer: ",
     .anchor = "WARNING: ThreadSanitizer: ", .shape = "WARNING: ThreadSanitizer: ([^(\n]+)",
     .known = true, .source = kLlvm},

    // --- compilers
    {.name = "mpsgraph-operation-gave-up", .text_class = abort_message, .title = kGraphError,
     .anchor = "'mps.",
     .shape = "('mps%.[%w_.]+' op [^\n]+)\n%A-{LLVM ERROR: Failed to infer|original module failed}",
     .known = true, .source = kGraph},
    {.name = "mpsgraph-gave-up", .text_class = abort_message, .title = kGraphError,
     .anchor = "(mpsFileLoc): ",
     .shape = ".-loc%('([^\n]-%):[ \n]error: {!'mps|'anec}[^\n]+)\n%A-{LLVM ERROR: Failed to "
              "infer|original module failed}",
     .from_the_line = true, .place = Place::unwarned, .known = true, .source = kGraph},
    // A program may survive these.
    {.name = "mpsgraph-operation", .text_class = exception, .title = kGraphError, .anchor = "'mps.",
     .shape = "('mps%.[%w_.]+' op .+)", .place = Place::unwarned, .source = kGraph},
    {.name = "mpsgraph-error", .text_class = exception, .title = kGraphError,
     .anchor = "(mpsFileLoc): ", .shape = ".-loc%('([^\n]-%):[ \n]error: {!'mps|'anec}.+)",
     .from_the_line = true, .place = Place::unwarned, .source = kGraph},
    {.name = "llvm-error", .text_class = abort_message, .title = "LLVM ERROR: ",
     .anchor = "LLVM ERROR: ", .shape = "LLVM ERROR: (.+)", .source = kLlvm},

    // --- languages
    {.name = "openmp", .text_class = abort_message, .title = "OMP: Error: ",
     .anchor = "OMP: Error #", .shape = "OMP: Error #%d+: (.+)",
     .source = "https://github.com/llvm/llvm-project/tree/main/openmp"},
    {.name = "libdispatch", .text_class = abort_message, .title = "libdispatch: ",
     .anchor = "BUG IN CLIENT OF LIBDISPATCH: ", .shape = "BUG IN CLIENT OF LIBDISPATCH: (.+)",
     .source = "https://github.com/apple-oss-distributions/libdispatch"},
    {.name = "swift-fatal-error", .text_class = abort_message, .title = "Swift: ",
     .anchor = "Fatal error: ", .shape = "Fatal error: (.-){: file |$}",
     .place = Place::after_source, .takes_leads = true, .source = kSwift},
    {.name = "rust-panic", .text_class = abort_message, .title = "Rust panic: ",
     .anchor = "panicked at ", .shape = "panicked at [^ '\n]+:%d+:%d+:\n(.+)", .takes_leads = true,
     .source = kRust},
    {.name = "rust-panic-before-1.73", .text_class = abort_message, .title = "Rust panic: ",
     .anchor = "panicked at '", .shape = "panicked at '(.+)', [^ \n]+:%d+:%d+", .takes_leads = true,
     .source = kRust},
    {.name = "python-fatal-function", .text_class = abort_message, .title = kPythonFatal,
     .anchor = "Fatal Python error: ",
     .shape = "Fatal Python error: ([%w_]+): .-{GIL held|NULL tstate|current thread}",
     .source = kCPython},
    {.name = "python-fatal", .text_class = abort_message, .title = kPythonFatal,
     .anchor = "Fatal Python error: ",
     .shape = "Fatal Python error: ({!Segmentation fault|Aborted|Bus error|Illegal instruction|"
              "Floating|Trace}.+)",
     .source = kCPython},

    // --- what a language or a test framework tells at a program's end
    {.name = "googletest-exception", .text_class = exception, .title = "",
     .anchor = "C++ exception with description '",
     .shape = "C%+%+ exception with description '(%A-)'? thrown in ",
     .counts = Counts::as_first_words, .source = kGoogleTest},
    {.name = "googletest-failure", .text_class = exception, .title = "", .anchor = ": Failure\n",
     .shape = ": Failure\n{Failed\n}?(.+)", .counts = Counts::as_first_words,
     .source = kGoogleTest},
    {.name = "python-traceback", .text_class = exception, .title = "",
     .anchor = "Traceback (most recent call last):\n",
     .shape = "Traceback %(most recent call last%):\n%A-\n({!ProcessExitedException|"
              "torch.multiprocessing.spawn.|torch.distributed.elastic.}[%a_][%w_.]*[:\n].*)",
     .counts = Counts::as_last_words, .source = kCPython},
};
// clang-format on

}  // namespace

std::span<const Form> forms() {
  return kForms;
}

}  // namespace mpsprobe
