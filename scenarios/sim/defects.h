#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/sim/encode_target.h"
#include "scenarios/sim/profile.h"

namespace mpsprobe::sim {

class SharedKernel;

/// What stands in the place of a number that a defect has overwritten. No test computes it.
constexpr int kOverwritten = 113;

/// What an encode came to that the caller has to carry out, because only it has the operation's
/// result in its hands.
struct EncodeResult {
  bool wrong_numbers = false;  ///< the result is to be overwritten
  const std::string* exception =
      nullptr;  ///< the operation has to throw this; lives with the engine
};

/// The defects of a profile at work: one shared object for each defect, kernel and path, with
/// encode slots that are held for a while, so that threads overlap whatever the number of cores.
class DefectEngine {
 public:
  /// `draw` returns uniform numbers in [0, 1); it is asked once for each defect with a rate below
  /// 1, here and never later: a process has a defect or has it not.
  DefectEngine(const Profile& profile, const std::function<double()>& draw);
  ~DefectEngine();

  /// Runs one encode of `operation` (an entry of operations()) by `path` through the defects that
  /// concern it. Any thread. Returns at once where none does; sleeps while it holds a slot; where
  /// the slots are taken, does what the profile says: dies of SIGSEGV or SIGABRT, never returns, or
  /// tells the caller what to do.
  EncodeResult encode(const Operation& operation, EncodePath path, EncodeTarget& target);

  /// Whether a defect in force wants results overwritten, or operations to throw.
  bool overwrites_results() const { return overwrites_results_; }
  bool throws() const { return throws_; }

 private:
  using Kernels = std::vector<SharedKernel*>;

  std::vector<std::unique_ptr<SharedKernel>> owned_;
  std::vector<std::array<Kernels, 4>> by_operation_;  // index in operations(), then path
  bool overwrites_results_ = false;
  bool throws_ = false;
};

/// Makes the call sequence that Metal answers with `text`, where it is one of metal.h's rules;
/// otherwise prints it in Metal's form as a failure at `place`. Either way the process aborts.
[[noreturn]] void break_rule(metal::CommandQueue& queue, const std::string& text,
                             const std::string& place);

}  // namespace mpsprobe::sim
