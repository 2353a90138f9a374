#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/cell.h"
#include "harness/wire/enum_words.h"

namespace mpsprobe {

/// The kinds of program that a failing cell is handed on as.
enum class Kind : uint8_t {
  metal,       ///< one Objective-C++ file on Apple's frameworks alone: for Feedback Assistant
  libtorch,    ///< one C++ file and its CMakeLists.txt, on LibTorch
  python,      ///< a text to paste into PyTorch's tracker
  mlx,         ///< one C++ file and its CMakeLists.txt, on MLX
  mlx_python,  ///< a text to paste into MLX's tracker
  mpsprobe,    ///< the cell itself: one command
};

template <>
inline constexpr auto kWordsOf<Kind> = std::to_array<std::string_view>({"metal", "libtorch",
                                                                        "python", "mlx",
                                                                        "mlx-python", "mpsprobe"});

/// One file of a program: its name has no folder in it, its text is complete.
struct EmittedFile {
  std::string name;
  std::string text;
};

/// A cell as a program of one kind.
struct Emission {
  Kind kind = Kind::mpsprobe;
  /// The program; in the order in which to show them. None for Kind::mpsprobe, and none where
  /// `why_not` says that there is no such program for the cell.
  std::vector<EmittedFile> files;
  std::string build;  ///< one line for a shell, in the folder of the files; empty: nothing to build
  std::string run;    ///< one line for a shell, in the same folder
  /// Axes of the cell that this program cannot say, each as a sentence for people: "churn=4: ...".
  std::vector<std::string> not_expressed;
  /// Where not empty, this kind is impossible for the cell: why, as a sentence for people.
  std::string why_not;

  bool possible() const { return why_not.empty(); }
};

/// What to emit.
struct EmissionRequest {
  Cell cell;
  std::string signature;  ///< of the failure: title text, may hold anything; shown as one comment
  /// One line that says that what is known of the failure was simulated; empty where it was not.
  /// Every file that can hold a comment has it near its top.
  std::string watermark;
  /// Failures per trial as measured, 0 to 1: decides how many runs the programs make by themselves,
  /// as many as see such a failure with 99%, between 10 and 300.
  double failure_rate = 1;
  /// FILE_OR_MODULE::NAME where the operation is somebody's own Python function or test
  /// (OperationInfo): its file is then copied into the program.
  std::string own_function;
  std::string own_test;
  /// Folder with the programs as they come with mpsprobe: metal/, libtorch/, python/, mlx/ below
  /// it. At run time `data_folder() / "programs"`.
  std::filesystem::path programs;
};

/// The cell as a program of each kind that there is for its backend, in the order of Kind, also of
/// what is impossible: for own code in Python, on MLX for a cell of mlx, else on Metal, LibTorch
/// and in Python. An emitted
/// program is byte for byte the one in `programs` but for its first lines (the cell, the signature,
/// the watermark) and the values in its block of parameters. Throws InputError where a program is
/// not in that folder or has not the form that is expected, which is a broken installation.
std::vector<Emission> emit(const EmissionRequest& request);

/// The one line with which a simulated finding is marked in a program, for EmissionRequest.
std::string simulated_watermark(const Cell& cell);

}  // namespace mpsprobe
