#pragma once

#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {

/// Evidence made by hand, for the tests of the reports. Nothing here was measured.

/// A crash three calls deep, with an inlined frame, a frame without a function and one outside
/// every image.
StackEvidence crashed_in_encode();

/// Threads 0 to 7 in a circle of locks, the main thread joining them, and a thread of a library
/// that sleeps.
StackEvidence lock_cycle_of_8();

/// One thread waits for a lock whose holder has ended, two for a condition.
StackEvidence lock_of_an_ended_thread();

CrashReport crash_report_of_encode();
GpuEvent gpu_restart();

/// One journal with everything above: a crash with stacks and a crash report, a hang with a cycle
/// of 8 in the same cell, a hang behind a crash, a thin signature, GPU events.
SampleJournal journal_with_evidence();

}  // namespace mpsprobe
