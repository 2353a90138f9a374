#pragma once

namespace mpsprobe {

/// What the run phases of interpreted workers took: see ResultEvent.
struct InsideShare {
  double inside_seconds = 0;
  double inside_cpu_seconds = 0;
  double run_seconds = 0;
  double cpu_seconds = 0;

  bool known() const { return inside_seconds > 0 && run_seconds > 0; }
  double computed() const { return inside_cpu_seconds / inside_seconds; }  ///< by the threads
  double processors() const { return cpu_seconds / run_seconds; }          ///< in use, on average
  InsideShare& operator+=(const InsideShare& other) {
    inside_seconds += other.inside_seconds;
    inside_cpu_seconds += other.inside_cpu_seconds;
    run_seconds += other.run_seconds;
    cpu_seconds += other.cpu_seconds;
    return *this;
  }
};

}  // namespace mpsprobe
