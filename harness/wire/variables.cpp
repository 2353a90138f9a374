#include "harness/wire/variables.h"

#include <fnmatch.h>

#include <algorithm>

#include "harness/input/input_error.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

using std::string_view;

constexpr string_view kInherited = "inherited";
constexpr string_view kPrefix = "env.";
constexpr size_t kMostBytes = 80;  // of a name, and of a value

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name(string_view text) {
  return !text.empty() && text.size() <= kMostBytes && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

// A cell's text is a file name's part and a shell's word: nothing else may stand in it.
bool is_value(string_view text) {
  return !text.empty() && text.size() <= kMostBytes && text != kInherited &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '.' || c == ':' || c == '-';
         });
}

constexpr string_view kPathValue = "is given a folder or a file of code";

/// Why a variable may not be set, and the names that this is said of: in capitals, a space between.
/// '*' at the beginning, the end or both stands for any text.
struct Refused {
  string_view reason;
  string_view names;
};

// After glibc's unsecvars.h, sudo's lists of variables to take out, dyld(1), malloc(3), and what
// LibTorch, MLX, CUDA, Metal, OpenMP and the Python libraries beside them read.
constexpr Refused kRefused[] = {
    // launchd hands on what follows __XPC_.
    {"is read by the dynamic loader: it chooses libraries",
     "LD_* LD64_* LDR_* _RLD* DYLD_* __XPC_* LIBPATH SHLIB_PATH *_PRELOAD *INSERT_LIBRARIES"},
    {"is read by the C library: it chooses files, modules or hosts",
     "GLIBC_* GCONV_* GETCONF_DIR HOSTALIASES LOCALDOMAIN LOCPATH NIS_PATH NLSPATH PATH_LOCALE "
     "RES_OPTIONS RESOLV_* TMP TEMP TMPDIR TZDIR TERMINFO* TERMCAP TERMPATH"},
    {"is read by shells: it chooses programs or what they run",
     "PATH CDPATH FPATH ENV IFS SHELL SHELLOPTS BASH* GLOBIGNORE PROMPT_COMMAND PS4 ZDOTDIR HOME "
     "XDG_* CFFIXED_USER_HOME"},
    {"is read by an interpreter: it chooses the code that it runs",
     "PYTHON* __PYVENV_LAUNCHER__ VIRTUAL_ENV CONDA_* PERL* RUBY* GEM_* BUNDLE_* NODE_* LUA_* PHP* "
     "JULIA_* JAVA* _JAVA_* JDK_* CLASSPATH TCLLIBPATH GUILE_*"},
    // Of glibc, libmalloc (MallocScribble), jemalloc, tcmalloc, mimalloc.
    {"is read by an allocator: it changes what every library does",
     "*MALLOC* NSZOMBIE* NSDEALLOCATEZOMBIES"},
    {"is read by a sanitizer: it names files and programs",
     "*SAN_OPTIONS *SAN_SYMBOLIZER* LLVM_* GCOV_* GMON_*"},
    {"lets a library load code that the value names",
     "OPENSSL_* SSL* KRB5* OMP_TOOL* INTEL_LIBITTNOTIFY* INTEL_JIT_* VS_PROFILER OCL_ICD_* VK_* "
     "GTK_* KINETO_CONFIG TORCH_TRACE METAL_LOAD_INTERPOSER *_INJECTION* *_PLUGIN *_PLUGINS "
     "*_MODULES *_HOOK"},
    {"is of a compiler that runs programs and loads what they made",
     "TORCHINDUCTOR_* TORCH_COMPILE_* AOT_INDUCTOR_* TRITON_* CC CXX CPP LD AR *NVCC* CUDACXX "
     "CFLAGS CXXFLAGS LDFLAGS COMPILER_PATH CPATH"},
    {"names a program, its options or what it starts",
     "EDITOR VISUAL PAGER BROWSER LESS* GIT_* *_ASKPASS *_COMMAND DEBUGINFOD_*"},
    {"names a host or a socket that a process is to talk to",
     "*_PROXY DISPLAY WAYLAND_* DBUS_* *_SOCK *_SOCKET *_HOST *_ADDR *_URL *_ENDPOINT"},
    {"has a name that says that its value is a path",
     "*_PATH *_DIR *_DIRS *_DIRECTORY *_FOLDER *_FILE *_FILES *FILENAME *FILENAMES *_HOME *_ROOT "
     "*_PREFIX *_LIB *_LIBS *_LIBRARY *_LIBRARIES *_LOGDEST_DBG"},
};

// Named like a path, and none: the reports' fork reads a number (facts of the effort behind it).
constexpr string_view kAllowed = "MPS_FORCE_GRAPH_PATH";

// What a loader, an interpreter or a driver takes a file for, by the end of its name.
constexpr string_view kCode[] = {"so",    "dylib", "bundle", "framework", "dll",  "a",     "o",
                                 "py",    "pyc",   "pyz",    "pth",       "egg",  "whl",   "zip",
                                 "jar",   "class", "js",     "mjs",       "node", "rb",    "pl",
                                 "pm",    "lua",   "sh",     "metallib",  "ptx",  "cubin", "fatbin",
                                 "hsaco", "bc",    "json",   "conf",      "cnf",  "yaml",  "xml"};

bool matches(string_view pattern, const std::string& name) {
  return fnmatch(std::string(pattern).c_str(), name.c_str(), FNM_CASEFOLD) == 0;
}

bool is_number(string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// "libevil.so", "libevil.so.1", ".", "..", ".hidden".
bool names_code(string_view item) {
  if (item.starts_with('.')) return item.size() == 1 || !is_number(item.substr(1));
  while (item.rfind('.') != string_view::npos && is_number(item.substr(item.rfind('.') + 1))) {
    item = item.substr(0, item.rfind('.'));
  }
  const size_t dot = item.rfind('.');
  if (dot == string_view::npos) return false;
  std::string end(item.substr(dot + 1));
  for (char& c : end) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(std::begin(kCode), std::end(kCode), end) != std::end(kCode);
}

/// Why no cell may give an environment variable this value; empty where it may. Cells come from
/// bundles, journals, matrices and expectations of other people: they may say how a library under
/// test works, and never which program, library, path or interpreter is taken. Refused are the
/// variables of loaders, interpreters, shells, allocators and sanitizers, those whose value is a
/// path that somebody loads code from or writes to, and every value that names a folder or a file
/// of code. Names are compared without regard to case.
string_view why_no_cell_sets(string_view name, string_view value) {
  const bool allowed = name == kAllowed;
  for (const Refused& row : kRefused) {
    for (const string_view pattern : split(row.names, ' ')) {
      if (!allowed && matches(pattern, std::string(name))) return row.reason;
    }
  }
  // Where a list of paths is taken, each of them counts.
  for (const string_view item : split(value, ':')) {
    if (names_code(item)) return kPathValue;
  }
  return "";
}

[[noreturn]] void refuse_variable(const std::string& problem, const std::string& remedy) {
  throw InputError("env", problem, remedy);
}

}  // namespace

Variables parse_variables(string_view value) {
  Variables variables;
  if (value == kInherited) return variables;
  for (const string_view item : split(value, '+')) {
    const size_t equals = std::min(item.find('='), item.size());
    const string_view name = item.substr(0, equals);
    const string_view set = item.substr(std::min(equals + 1, item.size()));
    if (!is_name(name)) {
      refuse_variable("has no variable of that name",
                      "Write env.NAME=VALUE; a name has letters, digits and _, at most 80");
    }
    if (!is_value(set)) {
      refuse_variable(std::string(name) + " has a value that no cell can have",
                      "Write 1 to 80 letters, digits and . : _ -, or unset; any other value goes "
                      "to all cells by --env");
    }
    if (name.starts_with("MPSPROBE_")) {
      refuse_variable(std::string(name) + " is mpsprobe's own, and none of a library under test",
                      "Take it out; --env sets it for all cells");
    }
    if (const string_view why = why_no_cell_sets(name, set); !why.empty()) {
      refuse_variable(std::string(name) + " " + std::string(why) + ", which no cell may do",
                      "Take it out; where you want it, --env " + std::string(name) +
                          "=VALUE on your own command line sets it for all cells");
    }
    if (!variables.emplace(name, set).second) {
      refuse_variable(std::string(name) + " is given twice", "Write it once");
    }
  }
  return variables;
}

std::string to_axis_value(const Variables& variables) {
  if (variables.empty()) return std::string(kInherited);
  std::string text;
  for (const auto& [name, value] : variables) {
    if (!text.empty()) text += '+';
    text += name;
    text += '=';
    text += value;
  }
  return text;
}

std::vector<std::string> parse_variable_values(string_view name, string_view list) {
  std::vector<std::string> values;
  for (const string_view item : split(list, ',')) {
    const std::string text =
        (item == kInherited ? "" : std::string(name) + "=") + std::string(item);
    values.push_back(to_axis_value(parse_variables(text)));
  }
  return values;
}

std::vector<std::string> combined(const std::vector<std::string>& some,
                                  const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (const std::string& one : some) {
    for (const std::string& other : more) {
      Variables both = parse_variables(one);
      for (const auto& [name, value] : parse_variables(other)) {
        if (both.emplace(name, value).second) continue;
        refuse_variable(name + " is given twice", "Write it once");
      }
      all.push_back(to_axis_value(both));
    }
  }
  return all;
}

string_view variable_of(string_view axis_name) {
  return axis_name.starts_with(kPrefix) ? axis_name.substr(kPrefix.size()) : string_view();
}

}  // namespace mpsprobe
