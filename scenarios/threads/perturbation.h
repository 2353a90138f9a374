#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "harness/wire/cell.h"

namespace mpsprobe {

/// Shifts the threads of one round against one another, as the axis `perturb` says. Every wait has
/// a bound: threads that throw, end, or are held by a lock stop nobody for good. What is drawn is a
/// function of the seed, the thread and how often it came; what it meets is the machine's.
///
/// - clock: Alglave, Maranget, Sarkar, Sewell, "Litmus: Running Tests against Hardware" (TACAS
///   2011), and the timebase barrier of litmus7 (http://diy.inria.fr/doc/litmus.html): the threads
///   agree on a clock value for each iteration and spin until it, each with a delay of its own.
/// - starve: chaos mode of rr (O'Callahan, "Deeper Into Chaos", 2016,
///   http://robert.ocallahan.org/2016_02_01_archive.html): long starvation and short, frequent
///   delays are both needed, so the length is drawn from powers of two.
/// - trap: Li, Lu, Musuvathi, Nath, Padhye, "Efficient Scalable Thread-Safety-Violation Detection"
///   (SOSP 2019; TSVD): a thread waits in an unsafe call, and the chance of it decays where nobody
///   comes.
class Perturbation {
 public:
  using Clock = std::chrono::steady_clock;

  /// The longest that a thread waits for the others at one place.
  static constexpr std::chrono::microseconds kMeetingBound{2000};
  static constexpr std::chrono::microseconds kTrapBound{4000};

  Perturbation(Perturb kind, int threads, uint64_t seed);
  Perturbation(const Perturbation&) = delete;
  Perturbation& operator=(const Perturbation&) = delete;

  /// Binds the calling thread, `thread` from 0, for as long as the object lives, so that
  /// hold_inside() finds it. One at a time on a thread.
  class Attendance {
   public:
    Attendance(Perturbation& perturbation, int thread);
    Attendance(const Attendance&) = delete;
    Attendance& operator=(const Attendance&) = delete;
    ~Attendance();  ///< the others expect it no longer

   private:
    Perturbation& perturbation_;
  };

  /// Called by an attending thread before each launch, outside locks. May spin or sleep.
  void before_launch();
  /// The same before it synchronises.
  void before_wait();
  /// Called within an unsafe call, where a backend has a place for it. May wait.
  void inside();

 private:
  struct Meeting {
    uint64_t number = 0;
    int arrived = 0;
  };

  void meet(int thread, uint64_t number);
  void stand_still(int thread);
  void lie_in_wait(int thread, uint64_t number);

  const Perturb kind_;
  const int threads_;
  const uint64_t seed_;
  const Clock::time_point begin_ = Clock::now();

  std::mutex meeting_mutex_;
  Meeting meeting_;                              // the latest that somebody came to
  std::atomic<int> attending_;                   // threads that may still come
  std::atomic<uint64_t> agreed_number_{0};       // of the meeting that agreed_ is for
  std::atomic<Clock::rep> agreed_{0};            // since the clock's epoch
  std::atomic<bool> has_inside_{false};          // the backend has a place within the launch
  std::atomic<uint64_t> came_{0};                // to where a trap may be
  std::vector<std::atomic<uint32_t>> patience_;  // of each thread's traps, in 256ths
};

/// Holds the calling thread within an unsafe call, where it attends a perturbation; otherwise
/// returns at once. The function that a backend is given to call. Any thread.
void hold_inside();

}  // namespace mpsprobe
