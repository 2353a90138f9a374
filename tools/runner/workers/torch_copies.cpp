#include "tools/runner/workers/torch_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tools/runner/workers/rpath.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr const char* kLibraryPath = "DYLD_LIBRARY_PATH";
constexpr const char* kPreload = "DYLD_INSERT_LIBRARIES";
constexpr const char* kRunPathName = "run path of the worker (LC_RPATH)";
#else
constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";
constexpr const char* kPreload = "LD_PRELOAD";
constexpr const char* kRunPathName = "run path of the worker (RUNPATH)";
#endif

using Variables = std::map<std::string, std::string>;

std::vector<std::string> split_at_any(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string resolved(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  return error ? path.lexically_normal().string() : canonical.string();
}

class Search {
 public:
  Search(const std::string& worker, Variables variables)
      : worker_folder_(fs::path(resolved(worker)).parent_path()),
        variables_(std::move(variables)),
        rpath_(read_rpath(worker)) {}

  std::vector<TorchCopy> run() {
    for (const std::string& file : split_at_any(value(kPreload), ": ")) {
      if (fs::path(file).filename() == torch_library_name()) take(file, kPreload, true, false);
    }
    if (rpath_.before_environment) take_run_path();
    if (const std::string list = value(kLibraryPath); !list.empty()) {
      // An empty entry is the current folder, on Linux.
      for (const std::string& folder : split_at_any(list, ":;")) {
        take(fs::path(folder.empty() ? "." : folder) / torch_library_name(), kLibraryPath, true,
             false);
      }
    }
    if (!rpath_.before_environment) take_run_path();
    if (const std::string root = value("MPSPROBE_TORCH"); !root.empty()) {
      take_root(root, "MPSPROBE_TORCH");
    }
    take_python();
    return std::move(copies_);
  }

 private:
  std::string value(const std::string& name) const {
    const auto at = variables_.find(name);
    return at == variables_.end() ? "" : at->second;
  }

  void take(const fs::path& library, const std::string& origin, bool searched, bool linked) {
    std::error_code error;
    if (!fs::is_regular_file(library, error)) return;
    TorchCopy copy{resolved(library), origin, searched, linked, {}};
    const bool known = std::any_of(copies_.begin(), copies_.end(), [&copy](const TorchCopy& other) {
      return other.library == copy.library && other.origin == copy.origin;
    });
    if (known) return;
    copy.files = read_installed_torch(copy.library);
    copies_.push_back(std::move(copy));
  }

  // As cmake/LocateTorch.cmake takes it: the folder with lib/, or the one above.
  void take_root(const fs::path& root, const std::string& origin) {
    for (const char* below : {"", "torch", "libtorch"}) {
      take(root / below / "lib" / torch_library_name(), origin, false, false);
    }
  }

  void take_run_path() {
    for (std::string folder : rpath_.folders) {
      for (const char* word : {"$ORIGIN", "${ORIGIN}", "@loader_path", "@executable_path"}) {
        if (folder.starts_with(word)) {
          folder = worker_folder_.string() + folder.substr(std::string_view(word).size());
        }
      }
      take(fs::path(folder) / torch_library_name(), kRunPathName, true, true);
    }
  }

  // site-packages below lib/python3.*/ of an installation or a virtual environment
  void take_packages(const fs::path& prefix, const std::string& origin) {
    std::error_code error;
    std::set<fs::path> folders;  // in an order that does not depend on the file system
    for (fs::directory_iterator at(prefix / "lib", error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().filename().string().starts_with("python3")) folders.insert(at->path());
    }
    for (const fs::path& folder : folders) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        take_root(folder / packages, origin);
      }
    }
  }

  void take_python() {
    for (const std::string& folder : split_at_any(value("PYTHONPATH"), ":")) {
      if (!folder.empty()) take_root(folder, "PYTHONPATH");
    }
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      if (const std::string prefix = value(name); !prefix.empty()) take_packages(prefix, name);
    }
    const std::string home = value("HOME");
    for (const std::string& folder : split_at_any(value("PATH"), ":")) {
      const fs::path python = fs::path(folder) / "python3";
      std::error_code error;
      if (folder.empty() || !fs::exists(python, error)) continue;
      const std::string origin = "python3, " + python.string();
      const fs::path prefix = fs::path(folder).parent_path();
      if (fs::path(folder).filename() == "shims") take_pyenv(prefix, origin);
      take_packages(prefix, origin);
      take_packages(fs::path(resolved(python)).parent_path().parent_path(), origin);
      take_packages(prefix / "local", origin);
      if (!home.empty()) take_packages(fs::path(home) / ".local", origin);
      break;  // the first one is what `python3` means
    }
  }

  // pyenv's python3 is a script that starts the version which a variable or a file names.
  void take_pyenv(const fs::path& root, const std::string& origin) {
    std::string version = value("PYENV_VERSION");
    if (version.empty()) std::getline(std::ifstream(root / "version"), version);
    if (!version.empty() && version.find('/') == std::string::npos) {
      take_packages(root / "versions" / version, origin);
    }
  }

  fs::path worker_folder_;
  Variables variables_;
  Rpath rpath_;
  std::vector<TorchCopy> copies_;
};

}  // namespace

std::vector<TorchCopy> torch_copies(const std::string& worker,
                                    const std::vector<std::string>& environment) {
  Variables variables;
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals != std::string::npos) variables[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return Search(worker, std::move(variables)).run();
}

std::optional<Shadowing> find_shadowing(const std::string& loaded,
                                        const std::vector<TorchCopy>& copies) {
  const auto linked =
      std::find_if(copies.begin(), copies.end(), [](const TorchCopy& copy) { return copy.linked; });
  const auto first = std::find_if(copies.begin(), copies.end(),
                                  [](const TorchCopy& copy) { return copy.searched; });
  if (linked == copies.end()) return std::nullopt;
  Shadowing shadowing{loaded.empty() ? first->library : resolved(loaded), "", *linked, false};
  if (shadowing.loaded == linked->library) return std::nullopt;
  for (const TorchCopy& copy : copies) {
    if (copy.library == shadowing.loaded && copy.searched) {
      shadowing.origin = copy.origin;
      break;
    }
  }
  const std::string fingerprint = fingerprint_of(shadowing.loaded);
  shadowing.same_bytes = !fingerprint.empty() && fingerprint == linked->files.fingerprint;
  return shadowing;
}

std::string in_words(const Shadowing& shadowing) {
  const std::string by = shadowing.origin.empty() ? "" : " (by " + shadowing.origin + ")";
  const std::string& version = shadowing.shadowed.files.version;
  return fmt::format(
      "{}{} is loaded in place of {} (LibTorch {}), which the worker was built against{}",
      shadowing.loaded, by, shadowing.shadowed.library, version.empty() ? "unknown" : version,
      shadowing.same_bytes ? "; both files seem to be the same" : "");
}

std::string remedy_for(const Shadowing& shadowing) {
  if (shadowing.origin == kLibraryPath || shadowing.origin == kPreload) {
    return fmt::format(
        "take {} out of {}, or build a worker against it (MPSPROBE_TORCH) and name that with "
        "--worker",
        shadowing.origin == kPreload ? "it" : fs::path(shadowing.loaded).parent_path().string(),
        shadowing.origin);
  }
  return "find what redirects the loader (its configuration, a link), or build the worker against "
         "the copy that is loaded (MPSPROBE_TORCH)";
}

}  // namespace mpsprobe
