#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reproducers/bundle/bundle.h"

namespace mpsprobe {

/// A run folder written for the tests: nothing in it was measured, no process died for it, and no
/// name in it is anybody's. Personal strings are planted wherever evidence can hold one.
class PlantedRun {
 public:
  /// `backend`: "mps", or "sim" for simulated evidence.
  explicit PlantedRun(const std::string& backend = "mps");
  PlantedRun(const PlantedRun&) = delete;
  PlantedRun& operator=(const PlantedRun&) = delete;
  ~PlantedRun();

  /// Every string that must not be in a bundle.
  const std::vector<std::string>& planted() const { return planted_; }
  /// What the machine and the user are told to know of them.
  BundleOptions options() const;

  std::filesystem::path run() const { return folder_ / "run"; }
  std::filesystem::path out() const { return folder_ / "out"; }
  /// Folder of what `mpsprobe repro` made of the signature.
  std::filesystem::path reproduction() const;
  const std::filesystem::path& folder() const { return folder_; }
  /// The title as it was measured.
  const std::string& title() const { return title_; }

  void write(const std::string& relative, const std::string& text) const;

 private:
  std::string plant(const std::string& text);
  void write_journal(const std::string& backend);
  void write_reproduction(const std::string& backend);

  std::filesystem::path folder_;
  std::string title_;
  std::vector<std::string> planted_;
};

/// What a folder holds below it: relative path and bytes, sorted.
std::vector<BundleFile> files_below(const std::filesystem::path& folder);
/// The files of an archive, in its order.
std::vector<BundleFile> files_of_archive(std::string_view archive);
std::string bytes_of(const std::filesystem::path& file);

}  // namespace mpsprobe
