#include "harness/wire/refused_variable.h"

#include <algorithm>

namespace mpsprobe {
namespace {

using std::string_view;

constexpr string_view kLoader = "is read by the dynamic loader: it chooses libraries";
constexpr string_view kLibc = "is read by the C library: it chooses files, modules or hosts";
constexpr string_view kShell = "is read by shells: it chooses programs or what they run";
constexpr string_view kInterpreter = "is read by an interpreter: it chooses the code that it runs";
constexpr string_view kAllocator = "is read by an allocator: it changes what every library does";
constexpr string_view kSanitizer = "is read by a sanitizer: it names files and programs";
constexpr string_view kLoadsCode = "lets a library load code that the value names";
constexpr string_view kCompiles = "is of a compiler that runs programs and loads what they made";
constexpr string_view kTool = "names a program, its options or what it starts";
constexpr string_view kHost = "names a host or a socket that a process is to talk to";
constexpr string_view kNamesPath = "has a name that says that its value is a path";
constexpr string_view kPathValue = "is given a folder or a file of code";

/// A name in capitals. '*' at the beginning, the end or both stands for any text.
struct Row {
  string_view pattern;
  string_view reason;
};

// After glibc's unsecvars.h, sudo's lists of variables to take out, dyld(1), malloc(3), and what
// LibTorch, MLX, CUDA, Metal, OpenMP and the Python libraries beside them read.
constexpr Row kRefused[] = {
    // Loaders.
    {"LD_*", kLoader},
    {"LD64_*", kLoader},
    {"LDR_*", kLoader},
    {"_RLD*", kLoader},
    {"DYLD_*", kLoader},
    {"__XPC_*", kLoader},  // launchd hands on what follows
    {"LIBPATH", kLoader},
    {"SHLIB_PATH", kLoader},
    {"*_PRELOAD", kLoader},
    {"*INSERT_LIBRARIES", kLoader},
    // The C library.
    {"GLIBC_*", kLibc},
    {"GCONV_*", kLibc},
    {"GETCONF_DIR", kLibc},
    {"HOSTALIASES", kLibc},
    {"LOCALDOMAIN", kLibc},
    {"LOCPATH", kLibc},
    {"NIS_PATH", kLibc},
    {"NLSPATH", kLibc},
    {"PATH_LOCALE", kLibc},
    {"RES_OPTIONS", kLibc},
    {"RESOLV_*", kLibc},
    {"TMP", kLibc},
    {"TEMP", kLibc},
    {"TMPDIR", kLibc},
    {"TZDIR", kLibc},
    {"TERMINFO*", kLibc},
    {"TERMCAP", kLibc},
    {"TERMPATH", kLibc},
    // Shells.
    {"PATH", kShell},
    {"CDPATH", kShell},
    {"FPATH", kShell},
    {"ENV", kShell},
    {"IFS", kShell},
    {"SHELL", kShell},
    {"SHELLOPTS", kShell},
    {"BASH*", kShell},
    {"GLOBIGNORE", kShell},
    {"PROMPT_COMMAND", kShell},
    {"PS4", kShell},
    {"ZDOTDIR", kShell},
    {"HOME", kShell},
    {"XDG_*", kShell},
    {"CFFIXED_USER_HOME", kShell},
    // Interpreters.
    {"PYTHON*", kInterpreter},
    {"__PYVENV_LAUNCHER__", kInterpreter},
    {"VIRTUAL_ENV", kInterpreter},
    {"CONDA_*", kInterpreter},
    {"PERL*", kInterpreter},
    {"RUBY*", kInterpreter},
    {"GEM_*", kInterpreter},
    {"BUNDLE_*", kInterpreter},
    {"NODE_*", kInterpreter},
    {"LUA_*", kInterpreter},
    {"PHP*", kInterpreter},
    {"JULIA_*", kInterpreter},
    {"JAVA*", kInterpreter},
    {"_JAVA_*", kInterpreter},
    {"JDK_*", kInterpreter},
    {"CLASSPATH", kInterpreter},
    {"TCLLIBPATH", kInterpreter},
    {"GUILE_*", kInterpreter},
    // Allocators.
    {"*MALLOC*", kAllocator},  // glibc, libmalloc (MallocScribble), jemalloc, tcmalloc, mimalloc
    {"NSZOMBIE*", kAllocator},
    {"NSDEALLOCATEZOMBIES", kAllocator},
    // Sanitizers and profilers.
    {"*SAN_OPTIONS", kSanitizer},
    {"*SAN_SYMBOLIZER*", kSanitizer},
    {"LLVM_*", kSanitizer},
    {"GCOV_*", kSanitizer},
    {"GMON_*", kSanitizer},
    // Libraries that load what a variable names.
    {"OPENSSL_*", kLoadsCode},
    {"SSL*", kLoadsCode},
    {"KRB5*", kLoadsCode},
    {"OMP_TOOL*", kLoadsCode},
    {"INTEL_LIBITTNOTIFY*", kLoadsCode},
    {"INTEL_JIT_*", kLoadsCode},
    {"VS_PROFILER", kLoadsCode},
    {"OCL_ICD_*", kLoadsCode},
    {"VK_*", kLoadsCode},
    {"GTK_*", kLoadsCode},
    {"KINETO_CONFIG", kLoadsCode},
    {"TORCH_TRACE", kLoadsCode},
    {"METAL_LOAD_INTERPOSER", kLoadsCode},
    {"*_INJECTION*", kLoadsCode},
    {"*_PLUGIN", kLoadsCode},
    {"*_PLUGINS", kLoadsCode},
    {"*_MODULES", kLoadsCode},
    {"*_HOOK", kLoadsCode},
    // Compilers at run time.
    {"TORCHINDUCTOR_*", kCompiles},
    {"TORCH_COMPILE_*", kCompiles},
    {"AOT_INDUCTOR_*", kCompiles},
    {"TRITON_*", kCompiles},
    {"CC", kCompiles},
    {"CXX", kCompiles},
    {"CPP", kCompiles},
    {"LD", kCompiles},
    {"AR", kCompiles},
    {"*NVCC*", kCompiles},
    {"CUDACXX", kCompiles},
    {"CFLAGS", kCompiles},
    {"CXXFLAGS", kCompiles},
    {"LDFLAGS", kCompiles},
    {"COMPILER_PATH", kCompiles},
    {"CPATH", kCompiles},
    // Programs.
    {"EDITOR", kTool},
    {"VISUAL", kTool},
    {"PAGER", kTool},
    {"BROWSER", kTool},
    {"LESS*", kTool},
    {"GIT_*", kTool},
    {"*_ASKPASS", kTool},
    {"*_COMMAND", kTool},
    {"DEBUGINFOD_*", kTool},
    // Hosts and sockets.
    {"*_PROXY", kHost},
    {"DISPLAY", kHost},
    {"WAYLAND_*", kHost},
    {"DBUS_*", kHost},
    {"*_SOCK", kHost},
    {"*_SOCKET", kHost},
    {"*_HOST", kHost},
    {"*_ADDR", kHost},
    {"*_URL", kHost},
    {"*_ENDPOINT", kHost},
    // Paths, by their name.
    {"*_PATH", kNamesPath},
    {"*_DIR", kNamesPath},
    {"*_DIRS", kNamesPath},
    {"*_DIRECTORY", kNamesPath},
    {"*_FOLDER", kNamesPath},
    {"*_FILE", kNamesPath},
    {"*_FILES", kNamesPath},
    {"*FILENAME", kNamesPath},
    {"*FILENAMES", kNamesPath},
    {"*_HOME", kNamesPath},
    {"*_ROOT", kNamesPath},
    {"*_PREFIX", kNamesPath},
    {"*_LIB", kNamesPath},
    {"*_LIBS", kNamesPath},
    {"*_LIBRARY", kNamesPath},
    {"*_LIBRARIES", kNamesPath},
    {"*_LOGDEST_DBG", kNamesPath},
};

// Named like a path, and none: the reports' fork reads a number (facts of the effort behind it).
constexpr string_view kAllowed[] = {"MPS_FORCE_GRAPH_PATH"};

// What a loader, an interpreter or a driver takes a file for, by the end of its name.
constexpr string_view kCode[] = {"so",    "dylib", "bundle", "framework", "dll",  "a",     "o",
                                 "py",    "pyc",   "pyz",    "pth",       "egg",  "whl",   "zip",
                                 "jar",   "class", "js",     "mjs",       "node", "rb",    "pl",
                                 "pm",    "lua",   "sh",     "metallib",  "ptx",  "cubin", "fatbin",
                                 "hsaco", "bc",    "json",   "conf",      "cnf",  "yaml",  "xml"};

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool same(string_view pattern, string_view name) {
  return std::equal(pattern.begin(), pattern.end(), name.begin(), name.end(),
                    [](char a, char b) { return a == upper(b); });
}

bool matches(string_view pattern, string_view name) {
  const bool open = pattern.starts_with('*');
  const bool goes_on = pattern.ends_with('*');
  string_view text = pattern.substr(open ? 1 : 0);
  if (goes_on) text.remove_suffix(1);
  if (name.size() < text.size()) return false;
  if (!open && !goes_on) return same(text, name);
  if (!open) return same(text, name.substr(0, text.size()));
  if (!goes_on) return same(text, name.substr(name.size() - text.size()));
  for (size_t at = 0; at + text.size() <= name.size(); ++at) {
    if (same(text, name.substr(at, text.size()))) return true;
  }
  return false;
}

bool is_number(string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "libevil.so", "libevil.so.1", ".", "..", ".hidden".
bool names_code(string_view item) {
  if (item.starts_with('.')) return item.size() == 1 || !is_number(item.substr(1));
  while (item.rfind('.') != string_view::npos && is_number(item.substr(item.rfind('.') + 1))) {
    item = item.substr(0, item.rfind('.'));
  }
  const size_t dot = item.rfind('.');
  if (dot == string_view::npos) return false;
  const string_view end = item.substr(dot + 1);
  return std::any_of(std::begin(kCode), std::end(kCode), [end](string_view code) {
    return std::equal(code.begin(), code.end(), end.begin(), end.end(),
                      [](char a, char b) { return upper(a) == upper(b); });
  });
}

}  // namespace

string_view why_no_cell_sets(string_view name, string_view value) {
  const bool allowed = std::any_of(std::begin(kAllowed), std::end(kAllowed),
                                   [name](string_view each) { return each == name; });
  for (const Row& row : kRefused) {
    if (!allowed && matches(row.pattern, name)) return row.reason;
  }
  // Where a list of paths is taken, each of them counts.
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find(':', begin), value.size());
    if (names_code(value.substr(begin, end - begin))) return kPathValue;
    begin = end + 1;
  }
  return "";
}

}  // namespace mpsprobe
