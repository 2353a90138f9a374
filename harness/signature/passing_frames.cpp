#include "harness/signature/passing_frames.h"

namespace mpsprobe {
namespace {

using enum Passing;

constexpr std::string_view kSystems = "https://github.com/apple-oss-distributions/xnu";
constexpr std::string_view kEnding = "https://github.com/llvm/llvm-project/tree/main/libcxxabi";
constexpr std::string_view kObjc = "https://github.com/apple-oss-distributions/objc4";
constexpr std::string_view kLibdispatch = "https://github.com/apple-oss-distributions/libdispatch";
constexpr std::string_view kThreads = "https://sourceware.org/git/?p=glibc.git";
constexpr std::string_view kAllocators = "https://github.com/apple-oss-distributions/libmalloc";
constexpr std::string_view kStandard = "https://github.com/llvm/llvm-project/tree/main/libcxx";
constexpr std::string_view kPython = "https://github.com/python/cpython";
constexpr std::string_view kSwift = "https://github.com/swiftlang/swift";
constexpr std::string_view kSymbols = "https://lld.llvm.org/MachO/ld64-vs-lld.html";

constexpr PassingFrame kPassingFrames[] = {
    {.meaning = placeholder, .function = "<deduplicated_symbol>", .source = kSymbols},
    {.meaning = placeholder,
     .function = "operator()",
     .source = kSymbols},  // a lambda that was inlined, without its function

    // --- signal handlers
    {.meaning = trampoline, .function = "_sigtramp", .source = kSystems},
    {.meaning = trampoline, .function = "__restore_rt", .source = kSystems},
    {.meaning = trampoline, .function = "__restore", .source = kSystems},
    {.meaning = trampoline, .function = "__kernel_rt_sigreturn", .source = kSystems},
    {.meaning = trampoline, .function = "__sigaction", .source = kSystems},
    {.meaning = trampoline, .function = "<signal handler called>", .source = kSystems},
    {.meaning = ending, .function = "faulthandler_*", .source = kEnding},
    {.meaning = ending, .function = "_Py_DumpTraceback*", .source = kEnding},
    {.meaning = ending, .function = "mpsprobe::*handle", .source = kEnding},

    // --- how a process ends itself
    {.meaning = ending, .function = "raise", .source = kEnding},
    {.meaning = ending, .function = "gsignal", .source = kEnding},
    {.meaning = ending, .function = "kill", .source = kEnding},
    {.meaning = ending, .function = "tgkill", .source = kEnding},
    {.meaning = ending, .function = "__kill", .source = kEnding},
    {.meaning = ending, .function = "pthread_kill*", .source = kEnding},
    {.meaning = ending, .function = "__pthread_kill*", .source = kEnding},
    {.meaning = ending, .function = "__GI_raise", .source = kEnding},
    {.meaning = ending, .function = "__GI_abort", .source = kEnding},
    {.meaning = ending, .function = "abort", .source = kEnding},
    {.meaning = ending, .function = "abort_message", .source = kEnding},
    {.meaning = ending, .function = "__abort", .source = kEnding},
    {.meaning = ending, .function = "__abort_message", .source = kEnding},
    {.meaning = ending, .function = "abort_with_reason", .source = kEnding},
    {.meaning = ending, .function = "abort_with_payload*", .source = kEnding},
    {.meaning = ending, .function = "__abort_with_payload", .source = kEnding},
    {.meaning = ending, .function = "__builtin_trap", .source = kEnding},
    {.meaning = ending, .function = "__assert_rtn*", .source = kEnding},
    {.meaning = ending, .function = "__assert_fail*", .source = kEnding},
    {.meaning = ending, .function = "__assert", .source = kEnding},
    {.meaning = ending, .function = "__eprintf", .source = kEnding},
    {.meaning = ending, .function = "__fortify_fail*", .source = kEnding},
    {.meaning = ending, .function = "__chk_fail*", .source = kEnding},
    {.meaning = ending, .function = "__stack_chk_fail*", .source = kEnding},
    {.meaning = ending, .function = "__libc_message*", .source = kEnding},
    {.meaning = ending, .function = "__libc_fatal", .source = kEnding},
    {.meaning = ending, .function = "_os_crash*", .source = kEnding},
    {.meaning = ending, .function = "os_crash*", .source = kEnding},
    {.meaning = ending, .function = "Py_FatalError*", .source = kEnding},
    {.meaning = ending, .function = "_Py_FatalError*", .source = kEnding},
    {.meaning = ending, .function = "fatal_error_exit", .source = kEnding},

    // --- exceptions, and what becomes of those that nobody catches
    {.meaning = ending, .function = "std::terminate", .source = kEnding},
    {.meaning = ending, .function = "std::__terminate", .source = kEnding},
    {.meaning = ending, .function = "std::rethrow_exception", .source = kEnding},
    {.meaning = ending, .function = "demangling_terminate_handler", .source = kEnding},
    {.meaning = ending, .function = "_objc_terminate", .source = kEnding},
    {.meaning = ending, .function = "failed_throw", .source = kEnding},
    {.meaning = ending, .function = "__cxa_*throw*", .source = kEnding},
    {.meaning = ending, .function = "__cxa_call_*", .source = kEnding},
    {.meaning = ending, .function = "__cxa_bad_*", .source = kEnding},
    {.meaning = ending, .function = "__cxa_pure_virtual", .source = kEnding},
    {.meaning = ending, .function = "__cxa_deleted_virtual", .source = kEnding},
    {.meaning = ending, .function = "__cxxabiv1::*", .source = kEnding},
    {.meaning = ending, .function = "__clang_call_terminate", .source = kEnding},
    {.meaning = ending, .function = "__gxx_personality*", .source = kEnding},
    {.meaning = ending, .function = "__gnu_cxx::*", .source = kEnding},
    {.meaning = ending, .function = "_Unwind_*", .source = kEnding},
    {.meaning = ending, .function = "objc_exception_*", .source = kEnding},
    {.meaning = ending, .function = "objc_terminate", .source = kEnding},
    {.meaning = ending, .function = "__exceptionPreprocess", .source = kEnding},
    {.meaning = ending, .function = "__raiseError", .source = kEnding},
    {.meaning = ending, .function = "-[NSException raise]", .source = kEnding},
    {.meaning = ending, .function = "+[NSException raise:*", .source = kEnding},
    {.meaning = ending, .function = "-[NSAssertionHandler *", .source = kEnding},
    {.meaning = ending, .function = "_CFThrow*", .source = kEnding},
    {.meaning = ending, .function = "_NSThrow*", .source = kEnding},

    // --- checks that Metal, MPS, LibTorch and others call to report what they found
    {.meaning = ending, .function = "MTLReportFailure*", .source = kEnding},
    {.meaning = ending, .function = "_MTLReportFailure*", .source = kEnding},
    {.meaning = ending, .function = "_MTLMessageContextEnd*", .source = kEnding},
    {.meaning = ending, .function = "_MTLMessageContextPush*", .source = kEnding},
    {.meaning = ending, .function = "MTLValidationFailure*", .source = kEnding},
    {.meaning = ending, .function = "MTLGetWarningMode*", .source = kEnding},
    {.meaning = ending, .function = "MPSReportFailure*", .source = kEnding},
    {.meaning = ending, .function = "c10::detail::torchCheckFail*", .source = kEnding},
    {.meaning = ending, .function = "c10::detail::torchInternalAssertFail*", .source = kEnding},
    {.meaning = ending, .function = "c10::Error::*", .source = kEnding},
    {.meaning = ending, .function = "absl::*LogMessage*", .source = kEnding},
    {.meaning = ending, .function = "absl::*raw_logging_internal::*", .source = kEnding},
    {.meaning = ending, .function = "google::LogMessage*", .source = kEnding},
    {.meaning = ending, .function = "google::protobuf::internal::LogMessage*", .source = kEnding},
    {.meaning = ending, .function = "gloo::enforce*", .source = kEnding},
    {.meaning = ending, .function = "ggml_abort", .source = kEnding},
    {.meaning = ending, .function = "ggml_print_backtrace", .source = kEnding},
    {.meaning = ending, .function = "ggml_uncaught_exception", .source = kEnding},
    {.meaning = ending, .function = "llvm::report_fatal_error*", .source = kEnding},
    {.meaning = ending, .function = "llvm::llvm_unreachable_internal", .source = kEnding},
    {.meaning = ending, .function = "llvm::sys::*Signal*", .source = kEnding},
    {.meaning = ending, .function = "_assertionFailure*", .source = kSwift},
    {.meaning = ending, .function = "swift_runtime_unreachable", .source = kEnding},
    {.meaning = ending, .function = "swift::fatalError*", .source = kEnding},
    {.meaning = ending, .function = "_swift_runtime_on_report", .source = kEnding},

    // --- messages, references to objects
    {.meaning = messaging, .function = "objc_msgSend*", .source = kObjc},
    {.meaning = messaging, .function = "objc_opt_*", .source = kObjc},
    {.meaning = messaging, .function = "objc_retain*", .source = kObjc},
    {.meaning = messaging, .function = "objc_release*", .source = kObjc},
    {.meaning = messaging, .function = "objc_autorelease*", .source = kObjc},
    {.meaning = messaging, .function = "objc_storeStrong", .source = kObjc},
    {.meaning = messaging, .function = "objc_storeWeak*", .source = kObjc},
    {.meaning = messaging, .function = "objc_loadWeak*", .source = kObjc},
    {.meaning = messaging, .function = "objc_copyWeak", .source = kObjc},
    {.meaning = messaging, .function = "objc_destroyWeak", .source = kObjc},
    {.meaning = messaging, .function = "objc_initWeak*", .source = kObjc},
    {.meaning = messaging, .function = "objc_object::*", .source = kObjc},
    {.meaning = messaging, .function = "objc_destructInstance", .source = kObjc},
    {.meaning = messaging, .function = "object_cxxDestruct*", .source = kObjc},
    {.meaning = messaging, .function = "object_dispose", .source = kObjc},
    {.meaning = messaging, .function = "_objc_*", .source = kObjc},
    {.meaning = messaging, .function = "*AutoreleasePoolPage::*", .source = kObjc},
    {.meaning = messaging, .function = "lookUpImpOrForward", .source = kObjc},
    {.meaning = messaging, .function = "-[NSObject release]", .source = kObjc},
    {.meaning = messaging, .function = "-[NSObject retain]", .source = kObjc},
    {.meaning = messaging, .function = "-[NSAutoreleasePool *", .source = kObjc},
    {.meaning = messaging, .function = "_CFAutoreleasePoolPop", .source = kObjc},
    {.meaning = messaging, .function = "_CFRelease*", .source = kObjc},
    {.meaning = messaging, .function = "CFRelease*", .source = kObjc},
    {.meaning = messaging, .function = "CFRetain*", .source = kObjc},
    {.meaning = messaging, .function = "_CFRetain*", .source = kObjc},
    {.meaning = messaging, .function = "swift_retain*", .source = kObjc},
    {.meaning = messaging, .function = "swift_release*", .source = kObjc},
    {.meaning = messaging, .function = "swift_unknownObject*", .source = kObjc},
    {.meaning = messaging, .function = "swift_bridgeObject*", .source = kObjc},
    {.meaning = messaging, .function = "_swift_re*", .source = kObjc},
    {.meaning = messaging, .function = "swift::*", .source = kObjc},
    {.meaning = messaging, .function = "_Block_*", .source = kObjc},
    {.meaning = messaging, .function = "__forwarding__*", .source = kObjc},
    {.meaning = messaging, .function = "___forwarding___*", .source = kObjc},
    {.meaning = messaging, .function = "_CF_forwarding_prep_*", .source = kObjc},
    {.meaning = messaging, .function = "-[NSObject doesNotRecognizeSelector:]", .source = kObjc},

    // --- queues
    {.meaning = dispatch, .function = "_dispatch_*", .source = kLibdispatch},
    {.meaning = dispatch,
     .image = "libdispatch*",
     .function = "dispatch_*",
     .source = kLibdispatch},  // a name for anybody's functions
    {.meaning = dispatch, .function = "start_wqthread", .source = kLibdispatch},
    {.meaning = dispatch, .function = "_pthread_wqthread*", .source = kLibdispatch},
    {.meaning = dispatch,
     .function = "at::native::mps::dispatch_sync_with_rethrow",
     .source = kLibdispatch},
    {.meaning = dispatch,
     .function = "at::mps::dispatch_sync_with_rethrow",
     .source = kLibdispatch},

    // --- where threads and programs begin
    {.meaning = thread_entry, .function = "start_thread", .source = kThreads},
    {.meaning = thread_entry, .function = "clone", .source = kThreads},
    {.meaning = thread_entry, .function = "clone3", .source = kThreads},
    {.meaning = thread_entry, .function = "__clone*", .source = kThreads},
    {.meaning = thread_entry, .function = "_pthread_start", .source = kThreads},
    {.meaning = thread_entry, .function = "_pthread_body", .source = kThreads},
    {.meaning = thread_entry, .function = "_pthread_exit", .source = kThreads},
    {.meaning = thread_entry, .function = "_pthread_tsd_cleanup", .source = kThreads},
    {.meaning = thread_entry,
     .image = "libsystem_pthread*",
     .function = "thread_start",
     .source = kThreads},
    {.meaning = thread_entry, .function = "execute_native_thread_routine", .source = kThreads},
    {.meaning = thread_entry, .function = "__libc_start_*", .source = kThreads},
    {.meaning = thread_entry, .function = "_start", .source = kThreads},
    {.meaning = thread_entry, .image = "dyld*", .function = "start", .source = kThreads},
    {.meaning = thread_entry, .image = "dyld*", .function = "dyld4::*", .source = kThreads},
    {.meaning = thread_entry, .image = "libdyld*", .function = "*", .source = kThreads},
    {.meaning = thread_entry, .function = "exit", .source = kThreads},
    {.meaning = thread_entry, .function = "__cxa_finalize*", .source = kThreads},
    {.meaning = thread_entry, .function = "__run_exit_handlers", .source = kThreads},
    {.meaning = thread_entry, .function = "tls_finalize*", .source = kThreads},

    // --- bytes
    {.meaning = memory, .function = "memcpy*", .source = kThreads},
    {.meaning = memory, .function = "memmove*", .source = kThreads},
    {.meaning = memory, .function = "memset*", .source = kThreads},
    {.meaning = memory, .function = "memcmp*", .source = kThreads},
    {.meaning = memory, .function = "memchr*", .source = kThreads},
    {.meaning = memory, .function = "bcopy", .source = kThreads},
    {.meaning = memory, .function = "bzero", .source = kThreads},
    {.meaning = memory, .function = "bcmp", .source = kThreads},
    {.meaning = memory, .function = "__mem*", .source = kThreads},
    {.meaning = memory, .function = "__wmem*", .source = kThreads},
    {.meaning = memory, .function = "__bzero", .source = kThreads},
    {.meaning = memory, .function = "_platform_*", .source = kThreads},
    {.meaning = memory, .function = "platform_mem*", .source = kThreads},
    {.meaning = memory, .function = "strlen*", .source = kThreads},
    {.meaning = memory, .function = "strcmp*", .source = kThreads},
    {.meaning = memory, .function = "strcpy*", .source = kThreads},
    {.meaning = memory, .function = "strncpy*", .source = kThreads},
    {.meaning = memory, .function = "strncmp*", .source = kThreads},
    {.meaning = memory, .function = "strchr*", .source = kThreads},
    {.meaning = memory, .function = "strdup*", .source = kThreads},
    {.meaning = memory, .function = "__str*", .source = kThreads},
    {.meaning = memory, .function = "__asan_mem*", .source = kThreads},

    // --- malloc: whoever damaged the heap is not on this stack
    {.meaning = allocator, .function = "malloc", .source = kAllocators},
    {.meaning = allocator, .function = "calloc", .source = kAllocators},
    {.meaning = allocator, .function = "realloc", .source = kAllocators},
    {.meaning = allocator, .function = "free", .source = kAllocators},
    {.meaning = allocator, .function = "cfree", .source = kAllocators},
    {.meaning = allocator, .function = "valloc", .source = kAllocators},
    {.meaning = allocator, .function = "memalign", .source = kAllocators},
    {.meaning = allocator, .function = "aligned_alloc", .source = kAllocators},
    {.meaning = allocator, .function = "posix_memalign", .source = kAllocators},
    {.meaning = allocator, .function = "reallocf", .source = kAllocators},
    {.meaning = allocator, .function = "malloc_*", .source = kAllocators},
    {.meaning = allocator, .function = "_malloc*", .source = kAllocators},
    {.meaning = allocator, .function = "__malloc*", .source = kAllocators},
    {.meaning = allocator, .function = "__libc_malloc*", .source = kAllocators},
    {.meaning = allocator, .function = "__libc_calloc*", .source = kAllocators},
    {.meaning = allocator, .function = "__libc_realloc*", .source = kAllocators},
    {.meaning = allocator, .function = "__libc_free*", .source = kAllocators},
    {.meaning = allocator, .function = "__libc_memalign*", .source = kAllocators},
    {.meaning = allocator, .function = "__GI___libc_*alloc*", .source = kAllocators},
    {.meaning = allocator, .function = "__GI___libc_free*", .source = kAllocators},
    {.meaning = allocator, .function = "_int_malloc*", .source = kAllocators},
    {.meaning = allocator, .function = "_int_free*", .source = kAllocators},
    {.meaning = allocator, .function = "_int_realloc*", .source = kAllocators},
    {.meaning = allocator, .function = "_int_memalign*", .source = kAllocators},
    {.meaning = allocator, .function = "unlink_chunk*", .source = kAllocators},
    {.meaning = allocator, .function = "sysmalloc*", .source = kAllocators},
    {.meaning = allocator, .function = "systrim*", .source = kAllocators},
    {.meaning = allocator, .function = "tcache_*", .source = kAllocators},
    {.meaning = allocator, .image = "libc.so", .function = "arena_get*", .source = kAllocators},
    {.meaning = allocator, .image = "libc-2*", .function = "arena_get*", .source = kAllocators},
    {.meaning = allocator, .function = "szone_*", .source = kAllocators},
    {.meaning = allocator, .function = "nanov2_*", .source = kAllocators},
    {.meaning = allocator, .function = "_nanov2_*", .source = kAllocators},
    {.meaning = allocator, .function = "__nanov2_*", .source = kAllocators},
    {.meaning = allocator, .function = "_nano_*", .source = kAllocators},
    {.meaning = allocator, .function = "xzm_*", .source = kAllocators},
    {.meaning = allocator, .function = "_xzm_*", .source = kAllocators},
    {.meaning = allocator, .function = "__xzm_*", .source = kAllocators},
    {.meaning = allocator, .function = "___xzm_*", .source = kAllocators},
    {.meaning = allocator, .function = "default_zone_*", .source = kAllocators},
    {.meaning = allocator, .function = "mfm_*", .source = kAllocators},
    {.meaning = allocator, .function = "_mfm_*", .source = kAllocators},
    {.meaning = allocator, .function = "je_*", .source = kAllocators},
    {.meaning = allocator, .function = "_mi_*", .source = kAllocators},
    // Names as common as small_* and mi_* are the allocator's in its own image alone.
    {.meaning = allocator, .image = "libsystem_malloc*", .function = "*", .source = kAllocators},
    {.meaning = allocator, .image = "libsystem_malloc*", .source = kAllocators},
    {.meaning = allocator, .image = "libmimalloc*", .function = "*", .source = kAllocators},
    {.meaning = allocator, .image = "libmimalloc*", .source = kAllocators},
    {.meaning = allocator, .image = "libjemalloc*", .function = "*", .source = kAllocators},
    {.meaning = allocator, .image = "libjemalloc*", .source = kAllocators},
    {.meaning = allocator, .image = "libtcmalloc*", .function = "*", .source = kAllocators},
    {.meaning = allocator, .image = "libtcmalloc*", .source = kAllocators},
    {.meaning = standard, .function = "operator new*", .source = kStandard},
    {.meaning = standard, .function = "operator delete*", .source = kStandard},
    {.meaning = standard, .function = "_Znwm", .source = kStandard},
    {.meaning = standard, .function = "_ZdlPv*", .source = kStandard},

    // --- locks: a bad one is its user's
    {.meaning = lock, .function = "pthread_*", .source = kThreads},
    {.meaning = lock, .function = "_pthread_*", .source = kThreads},
    {.meaning = lock, .function = "__pthread_*", .source = kThreads},
    {.meaning = lock, .function = "___pthread_*", .source = kThreads},
    {.meaning = lock, .function = "__GI___pthread_*", .source = kThreads},
    {.meaning = lock, .function = "__lll_*", .source = kThreads},
    {.meaning = lock, .function = "lll_*", .source = kThreads},
    {.meaning = lock, .function = "__psynch_*", .source = kThreads},
    {.meaning = lock, .function = "__ulock_*", .source = kThreads},
    {.meaning = lock, .function = "os_unfair_*", .source = kThreads},
    {.meaning = lock, .function = "_os_unfair_*", .source = kThreads},
    {.meaning = lock, .function = "_os_once*", .source = kThreads},
    {.meaning = lock, .function = "__semwait_signal*", .source = kThreads},
    {.meaning = lock, .image = "libsystem_kernel*", .function = "semaphore_*", .source = kThreads},
    {.meaning = lock, .function = "__futex*", .source = kThreads},
    {.meaning = lock, .function = "futex_*", .source = kThreads},
    {.meaning = lock, .function = "syscall", .source = kThreads},
    {.meaning = lock, .function = "mach_msg*", .source = kThreads},
    {.meaning = lock, .function = "__gthread_*", .source = kThreads},

    // --- the standard library: its containers are inlined in one build and not in another
    {.meaning = standard, .function = "std::*", .source = kStandard},
    {.meaning = standard, .image = "libc++*", .function = "*", .source = kStandard},
    {.meaning = standard, .image = "libstdc++*", .function = "*", .source = kStandard},

    // --- LibTorch's loops over elements: what they call, and who called them, tells more
    {.meaning = standard, .function = "at::native::vectorized_loop*", .source = kStandard},
    {.meaning = standard, .function = "at::native::VectorizedLoop2d*", .source = kStandard},
    {.meaning = standard, .function = "at::native::vectorized_inner_sum*", .source = kStandard},
    {.meaning = standard, .function = "at::native::vectorized_outer_sum*", .source = kStandard},
    {.meaning = standard, .function = "at::native::cascade_sum*", .source = kStandard},
    {.meaning = standard, .function = "at::native::Dist::*", .source = kStandard},
    {.meaning = standard, .function = "at::native::_update*", .source = kStandard},
    {.meaning = standard, .function = "at::native::utils::parallel_*", .source = kStandard},
    {.meaning = standard, .function = "at::two_pass_reduction", .source = kStandard},
    {.meaning = standard,
     .function = "at::TensorIteratorBase::parallel_reduce",
     .source = kStandard},
    {.meaning = standard,
     .function = "at::TensorIteratorBase::serial_for_each",
     .source = kStandard},
    {.meaning = standard, .function = "at::TensorIteratorBase::for_each", .source = kStandard},
    {.meaning = standard, .function = "at::internal::serial_for_each", .source = kStandard},

    // --- LibTorch's handles, which are inlined in one build and not in another: a bad one is its
    // user's
    {.meaning = standard, .function = "at::Tensor::*", .source = kStandard},
    {.meaning = standard, .function = "at::TensorBase::*", .source = kStandard},
    {.meaning = standard, .function = "at::OptionalTensorRef::*", .source = kStandard},
    {.meaning = standard, .function = "c10::ArrayRef::*", .source = kStandard},
    {.meaning = standard, .function = "c10::DispatchKeyExtractor::*", .source = kStandard},
    {.meaning = standard, .function = "c10::Dispatcher::*", .source = kStandard},
    {.meaning = standard, .function = "c10::KernelFunction::*", .source = kStandard},
    {.meaning = standard, .function = "c10::impl::*", .source = kStandard},
    {.meaning = standard, .function = "c10::Dict::*", .source = kStandard},
    {.meaning = standard, .function = "c10::IValue::*", .source = kStandard},
    {.meaning = standard, .function = "c10::List::*", .source = kStandard},
    {.meaning = standard, .function = "c10::MaybeOwned*", .source = kStandard},
    {.meaning = standard, .function = "c10::OptionalArrayRef::*", .source = kStandard},
    {.meaning = standard, .function = "c10::Scalar::*", .source = kStandard},
    {.meaning = standard, .function = "c10::SmallVector*", .source = kStandard},
    {.meaning = standard, .function = "c10::intrusive_ptr*", .source = kStandard},
    {.meaning = standard, .function = "c10::optional*", .source = kStandard},
    {.meaning = standard, .function = "c10::raw::*", .source = kStandard},
    {.meaning = standard, .function = "c10::weak_intrusive_ptr*", .source = kStandard},
    {.meaning = standard, .function = "torch::OrderedDict::*", .source = kStandard},
    {.meaning = standard, .function = "torch::nn::AnyModule::*", .source = kStandard},
    {.meaning = standard, .function = "torch::nn::ModuleHolder::*", .source = kStandard},

    // --- OpenMP's runtimes
    {.meaning = thread_entry, .function = "gomp_thread_start", .source = kThreads},
    {.meaning = placeholder,
     .function = "omp_outlined*",
     .source = kSymbols},  // a region that clang cut out, without its function
    {.meaning = placeholder, .function = ".omp_outlined*", .source = kSymbols},
    {.meaning = placeholder, .function = "__omp_outlined*", .source = kSymbols},
    {.meaning = standard, .function = "GOMP_*", .source = kStandard},
    {.meaning = standard, .function = "__kmpc_*", .source = kStandard},
    {.meaning = standard, .function = "__kmp_*", .source = kStandard},
    {.meaning = unnamed, .image = "libgomp*", .source = kSystems},
    {.meaning = unnamed, .image = "libiomp*", .source = kSystems},
    {.meaning = unnamed, .image = "libomp*", .source = kSystems},

    // --- inside MKL, where names tell the type of elements and the processor
    {.meaning = standard, .function = "mkl_*", .source = kStandard},
    {.meaning = standard,
     .function = "L_*gas_*",
     .source = kStandard},  // labels of its assembler's code
    {.meaning = standard, .function = "sgemm_*", .source = kStandard},
    {.meaning = standard, .function = "dgemm_*", .source = kStandard},
    {.meaning = standard, .function = "cgemm_*", .source = kStandard},
    {.meaning = standard, .function = "zgemm_*", .source = kStandard},

    // --- interpreters
    {.meaning = interpreter, .function = "_PyEval_*", .source = kPython},
    {.meaning = interpreter, .function = "PyEval_*", .source = kPython},
    {.meaning = interpreter, .function = "_PyFunction_*", .source = kPython},
    {.meaning = interpreter, .function = "_PyObject_*", .source = kPython},
    {.meaning = interpreter, .function = "PyObject_*", .source = kPython},
    {.meaning = interpreter, .function = "_Py_*", .source = kPython},
    {.meaning = interpreter, .function = "Py_*", .source = kPython},
    {.meaning = interpreter, .function = "PyRun_*", .source = kPython},
    {.meaning = interpreter, .function = "pymain_*", .source = kPython},
    {.meaning = interpreter, .function = "pythread_wrapper", .source = kPython},
    {.meaning = interpreter, .image = "*ython*", .function = "thread_run", .source = kPython},
    {.meaning = interpreter, .function = "cfunction_*", .source = kPython},
    {.meaning = interpreter, .function = "method_vectorcall*", .source = kPython},
    {.meaning = interpreter, .image = "*ython*", .function = "call_function", .source = kPython},
    {.meaning = interpreter, .image = "Python", .source = kPython},
    {.meaning = interpreter, .image = "python*", .source = kPython},
    {.meaning = interpreter, .image = "libpython*", .source = kPython},

    // --- the C library: what it was given is its caller's
    {.meaning = standard, .image = "libc.so", .function = "*", .source = kStandard},
    {.meaning = standard, .image = "libc-2*", .function = "*", .source = kStandard},
    {.meaning = standard, .image = "libc.musl-*", .function = "*", .source = kStandard},
    {.meaning = standard, .image = "libpthread-2*", .function = "*", .source = kStandard},
    {.meaning = standard, .image = "libm.so", .function = "*", .source = kStandard},
    {.meaning = standard, .image = "libsystem_c.dylib", .function = "*", .source = kStandard},
    {.meaning = standard, .image = "libsystem_kernel.dylib", .function = "*", .source = kStandard},
    {.meaning = standard, .image = "libsystem_m.dylib", .function = "*", .source = kStandard},
    {.meaning = standard,
     .image = "libsystem_platform.dylib",
     .function = "*",
     .source = kStandard},
    {.meaning = standard, .image = "libsystem_pthread.dylib", .function = "*", .source = kStandard},

    // --- images of the system, where they tell no function
    {.meaning = unnamed, .image = "libc.so", .source = kSystems},
    {.meaning = unnamed, .image = "libc-*", .source = kSystems},
    {.meaning = unnamed, .image = "libpthread*", .source = kSystems},
    {.meaning = unnamed, .image = "libm.so", .source = kSystems},
    {.meaning = unnamed, .image = "libdl.so", .source = kSystems},
    {.meaning = unnamed, .image = "ld-linux*", .source = kSystems},
    {.meaning = unnamed, .image = "ld-musl*", .source = kSystems},
    {.meaning = unnamed, .image = "libgcc_s*", .source = kSystems},
    {.meaning = unnamed, .image = "libstdc++*", .source = kSystems},
    {.meaning = unnamed, .image = "*vdso*", .source = kSystems},
    {.meaning = unnamed, .image = "libsystem_*", .source = kSystems},
    {.meaning = unnamed, .image = "libSystem*", .source = kSystems},
    {.meaning = unnamed, .image = "libc++*", .source = kSystems},
    {.meaning = unnamed, .image = "libobjc*", .source = kSystems},
    {.meaning = unnamed, .image = "libdispatch*", .source = kSystems},
    {.meaning = unnamed, .image = "libdyld*", .source = kSystems},
    {.meaning = unnamed, .image = "dyld*", .source = kSystems},
    {.meaning = unnamed, .image = "libswift*", .source = kSystems},
    {.meaning = unnamed, .image = "CoreFoundation", .source = kSystems},
    {.meaning = unnamed, .image = "Foundation", .source = kSystems},
};

bool fits(std::string_view pattern, std::string_view text) {
  const bool open_end = pattern.ends_with('*');
  const bool open_front = pattern.starts_with('*');
  if (open_end) pattern.remove_suffix(1);
  if (open_front && !pattern.empty()) pattern.remove_prefix(1);
  // A star within: what stands before it and what stands after it.
  if (const size_t star = pattern.find('*'); star != std::string_view::npos) {
    const std::string_view before = pattern.substr(0, star);
    const std::string_view after = pattern.substr(star + 1);
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    return open_end ? text.find(after) != std::string_view::npos : text.ends_with(after);
  }
  if (open_front && open_end) return text.find(pattern) != std::string_view::npos;
  if (open_end) return text.starts_with(pattern);
  if (open_front) return text.ends_with(pattern);
  return text == pattern;
}

}  // namespace

std::span<const PassingFrame> passing_frames() {
  return kPassingFrames;
}

const PassingFrame* find_passing_frame(std::string_view image, std::string_view function,
                                       std::span<const PassingFrame> rows) {
  for (const PassingFrame& row : rows) {
    if (row.function.empty() != function.empty()) continue;
    if (!row.image.empty() && !fits(row.image, image)) continue;
    if (row.function.empty() || fits(row.function, function)) return &row;
  }
  return nullptr;
}

}  // namespace mpsprobe
