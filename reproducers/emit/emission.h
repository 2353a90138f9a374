#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/process_record.h"
#include "harness/wire/cell.h"
#include "harness/wire/enum_words.h"

namespace mpsprobe {

/// The kinds of program that a failing cell is handed on as.
enum class Kind : uint8_t {
  metal,       ///< one Objective-C++ file on Apple's frameworks alone: for Feedback Assistant
  libtorch,    ///< one C++ file on LibTorch
  python,      ///< one Python file: on PyTorch, or of somebody's own code
  mlx,         ///< one C++ file on MLX
  mlx_python,  ///< one Python file on MLX
};

template <>
inline constexpr auto kWordsOf<Kind> =
    std::to_array<std::string_view>({"metal", "libtorch", "python", "mlx", "mlx-python"});

/// One file of a program: its name has no folder in it, its text is complete.
struct EmittedFile {
  std::string name;
  std::string text;
};

/// What the cell leaves open, and what decides how often a program fails.
struct ProgramForm {
  bool inputs_first = true;   ///< each thread makes its inputs before the threads meet, or after
  bool stream_first = false;  ///< the same of its stream
  int rounds = 1;             ///< of starting and joining the threads, in each process
  int attempts = 20;          ///< processes that the program starts, each of which makes one
  double seconds = 0;         ///< that they take in all, as measured; 0 where that is not known
  int limit = 60;             ///< seconds that one may take: a hang takes them all

  friend bool operator==(const ProgramForm&, const ProgramForm&) = default;
};

/// A cell as a program of one kind.
struct Emission {
  Kind kind = Kind::metal;
  /// The program first, then what it takes. None where `why_not` says that there is no such program
  /// for the cell.
  std::vector<EmittedFile> files;
  /// One line for a shell, in the folder of the files; empty: nothing to build. Where a library is
  /// looked for, it begins with "NAME=$(...); ", its folder.
  std::string build;
  std::string run;  ///< one line for a shell, in the same folder
  /// Axes of the cell that this program cannot say, each as a sentence for people: "churn=4: ...".
  std::vector<std::string> not_expressed;
  /// Where not empty, this kind is impossible for the cell: why, as a sentence for people.
  std::string why_not;
  /// Folder of somebody's own code, which may read what lies beside it; else empty.
  std::filesystem::path beside;

  bool possible() const { return why_not.empty(); }
};

/// What to emit.
struct EmissionRequest {
  Cell cell;
  std::string signature;  ///< of the failure: title text, may hold anything; shown as one comment
  Outcome outcome = Outcome::signal;  ///< of the failure: numbers are checked where they were wrong
  /// One line that says that what is known of the failure was simulated; empty where it was not.
  std::string watermark;
  bool at_end = false;  ///< the failure came when the process ended, after all work
  ProgramForm form = {};
  /// FILE_OR_MODULE::NAME where the operation is somebody's own Python function or test
  /// (OperationInfo): its file is then copied into the program.
  std::string own_function;
  std::string own_test;
  /// Folder with the templates of programs as they come with mpsprobe. At run time
  /// `data_folder() / "programs"`.
  std::filesystem::path programs;
};

/// The cell as a program of each kind that there is for its backend, in the order of Kind, also of
/// what is impossible: for own code in Python, on MLX for a cell of mlx, else on Metal, LibTorch
/// and in Python. A program holds the cell's operation, threads and conditions and nothing else. It
/// makes its attempts in processes of its own, prints how many failed, and exits with 1 where one
/// did, else with 0. That for PyTorch in Python starts none, since nobody runs a pasted text that
/// does: it ends as the failure ends it. Throws InputError where a template is missing or broken,
/// which is a broken installation.
std::vector<Emission> emit(const EmissionRequest& request);

/// Attempts that show a failure with 99% where each fails with this chance, from 1 to `most`.
int attempts_for(double rate, int most = 300);

/// The calls of a library that the cell is about, as its documentation names them: "mx.matmul",
/// "torch.nn.functional.linear", "MPSNDArrayMatrixMultiplication"; the operation's own name where
/// there is no program of it.
std::string api_of(const Cell& cell);

/// The one line with which a simulated finding is marked in a program, for EmissionRequest. Names
/// the profile, or PyTorch's own MPS code where that is what ran (own_mps_code()).
std::string simulated_watermark(const Cell& cell, const std::string& own_mps_code = "");

}  // namespace mpsprobe
