#include "tools/runner/workers/shadowing.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/wire/loaded_library.h"
#include "reports/words/safe_text.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr const char* kLibraryPath = "DYLD_LIBRARY_PATH";
constexpr const char* kPreload = "DYLD_INSERT_LIBRARIES";
#else
constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";
constexpr const char* kPreload = "LD_PRELOAD";
#endif

}  // namespace

std::optional<Shadowing> find_shadowing(const nlohmann::json& torch) {
  const std::string loaded = text_at(torch, "path");
  std::error_code error;
  const fs::path built = fs::canonical(text_at(torch, "built_against"), error);
  if (loaded.empty() || error || fs::weakly_canonical(loaded, error) == built) return std::nullopt;
  Shadowing shadowing{loaded, built.string(), read_installed_torch(built), false};
  const std::string fingerprint = fingerprint_of(loaded);
  shadowing.same_bytes = !fingerprint.empty() && fingerprint == shadowing.files.fingerprint;
  return shadowing;
}

std::string in_words(const Shadowing& shadowing) {
  const std::string& version = shadowing.files.version;
  return fmt::format(
      "{} is loaded in place of {} (LibTorch {}), which the worker was built against{}",
      shadowing.loaded, shadowing.built_against, version.empty() ? "unknown" : version,
      shadowing.same_bytes ? "; both files seem to be the same" : "");
}

std::string remedy_for(const Shadowing& shadowing) {
  return fmt::format(
      "take {} out of {} or {}, or build a worker against it (MPSPROBE_TORCH) and name that with "
      "--worker",
      fs::path(shadowing.loaded).parent_path().string(), kLibraryPath, kPreload);
}

std::string redirected_loader(const std::vector<std::string>& environment) {
  for (const char* name : {kPreload, kLibraryPath}) {
    for (const std::string& entry : environment) {
      if (!entry.starts_with(std::string(name) + "=") || entry.ends_with('=')) continue;
      return fmt::format(
          "Perhaps because {} leads to another library than the worker was built against: take "
          "that out of it",
          entry);
    }
  }
  return "";
}

namespace {

const nlohmann::json& torch_of(const WorkerInfo& worker) {
  return member(member(worker.describe, "provenance"), "torch");
}

/// What --expect-torch names.
class ExpectedTorch {
 public:
  explicit ExpectedTorch(const std::string& text) {
    for (const char* kind : {"git:", "uuid:", "path:"}) {
      if (text.starts_with(kind)) kind_ = kind;
    }
    value_ = text.substr(kind_.size());
    const bool version = value_.find_first_of("0123456789") == 0 && value_.find(':') == value_.npos;
    if (value_.empty() || (kind_.empty() && !version) || (kind_ == "git:" && value_.size() < 7)) {
      throw InputError(
          "--expect-torch", "\"" + printable(text) + "\" names no LibTorch",
          "Write a version (2.15.0), git:HASH with 7 characters or more, uuid:ID or path:FOLDER");
    }
    if (kind_ == "path:" && !fs::is_directory(value_)) {
      throw InputError("--expect-torch " + printable(text),
                       fs::exists(value_) ? "is no folder" : "names a folder that does not exist",
                       "Name the folder that the expected LibTorch lies in, at any depth");
    }
  }

  /// `id` is a build id or UUID.
  bool is(const std::string& version, const std::string& git, const std::string& id,
          const std::string& library) const {
    if (kind_ == "git:") return git.starts_with(value_);
    if (kind_ == "uuid:") return id == value_;
    if (kind_ == "path:") return lies_in_folder(library);
    // "2.15.0" is every build of that version, "2.15.0+cu130" only that one.
    return version == value_ || version.starts_with(value_ + "+");
  }
  bool is(const Shadowing& shadowed) const {
    return is(shadowed.files.version, shadowed.files.git_hash, "", shadowed.built_against);
  }

 private:
  bool lies_in_folder(const std::string& library) const {
    std::error_code no_folder;
    std::error_code no_file;
    const fs::path folder = fs::canonical(value_, no_folder);
    const fs::path below = fs::canonical(library, no_file).lexically_relative(folder);
    return !no_folder && !no_file && !below.empty() && *below.begin() != "..";
  }

  std::string kind_;
  std::string value_;
};

/// "MLX 0.32.4": what a worker loads that is not LibTorch; empty where it is, or is not told.
std::string other_library_of(const WorkerInfo& worker) {
  const LibraryUnderTest library = library_under_test(member(worker.describe, "provenance"));
  if (library.name.empty() || library.name == "LibTorch") return "";
  return library.name + (library.version.empty() ? "" : " " + library.version);
}

std::string text_or(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

}  // namespace

std::string torch_mismatch(const WorkerInfo& worker, const std::string& expected) {
  const ExpectedTorch wanted(expected);
  const nlohmann::json& torch = torch_of(worker);
  if (const std::string other = other_library_of(worker); !other.empty()) {
    return fmt::format(
        "worker {} loads {}, and no LibTorch. Leave the option out, or name a worker that loads "
        "LibTorch with --worker",
        worker.name, other);
  }
  const std::string path = text_at(torch, "path");
  const std::string id = text_at(torch, "build_id") + text_at(torch, "uuid");
  const auto shadowing = find_shadowing(torch);
  const bool right = wanted.is(text_at(torch, "version"), text_at(torch, "git_hash"), id, path);
  const bool ambiguous =
      right && shadowing.has_value() && !shadowing->same_bytes && wanted.is(*shadowing);
  if (right && !ambiguous) return "";

  const std::string version = text_at(torch, "version");
  std::string text = fmt::format("worker {} loads no LibTorch", worker.name);
  if (!version.empty() || !path.empty()) {
    text = fmt::format("worker {} loads LibTorch {} (git {}, id {}) from {}", worker.name,
                       text_or(version, "of unknown version"),
                       text_or(text_at(torch, "git_hash"), "unknown"), text_or(id, "unknown"),
                       text_or(path, "nowhere"));
  }
  if (ambiguous) text += ", which another build of that version would be as well";
  if (shadowing.has_value()) text += ". " + in_words(*shadowing);
  return text + ". " +
         (shadowing.has_value()
              ? "Remedy: " + remedy_for(*shadowing)
              : "Build the worker against the right one, or name it with --worker");
}

void expect_torch(const std::vector<WorkerInfo>& workers, const std::string& expected) {
  for (const WorkerInfo& worker : workers) {
    const std::string mismatch = torch_mismatch(worker, expected);
    if (mismatch.empty()) continue;
    throw MachineError(fmt::format("--expect-torch {}: {}. Nothing was run", printable(expected),
                                   printable(mismatch)));
  }
}

std::string shadowing_of(const WorkerInfo& worker) {
  const auto shadowing = find_shadowing(torch_of(worker));
  return shadowing.has_value() ? printable(in_words(*shadowing)) : "";
}

}  // namespace mpsprobe
