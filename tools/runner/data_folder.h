#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/matrix/matrix.h"
#include "reports/expectations/expectations.h"

namespace mpsprobe {

/// share/mpsprobe beside the program: ../share/mpsprobe from its folder, as installed and as built.
std::filesystem::path data_folder();

/// Names of the built-in matrices, sorted.
std::vector<std::string> matrix_names();

/// Names of the profiles of the simulated device, sorted.
std::vector<std::string> profile_names();

/// What the file of a profile says of it, in one line; empty where it says nothing.
std::string profile_description(const std::string& name);

/// A built-in matrix by name, or else a matrix file. Throws InputError where it is neither.
Matrix find_matrix(const std::string& name_or_file);

/// The known failures that belong to a built-in matrix, by its name, or else those of a file.
/// Throws InputError where it is neither, or the file is not of the format.
std::vector<KnownFailure> find_known_failures(const std::string& name_or_file);

}  // namespace mpsprobe
