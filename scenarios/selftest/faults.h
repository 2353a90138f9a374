#pragma once

/// Ways to die or to stop that the hardware, the kernel or the C library turn into a signal or a
/// hang. Each does the real thing; none imitates a signal by raising it, where the machine has a
/// way.
namespace mpsprobe::faults {

void null_dereference();
void nested_crash();  ///< three calls deep: nested_outer, nested_middle, nested_inner
void null_call();     ///< calls through a null pointer to a function
void wild_call();     ///< calls an address where nothing is mapped
void heap_call();     ///< calls a block of the heap, where nothing may be executed
/// Dies inside malloc of a free block that was overwritten: glibc follows its pointer (SIGSEGV),
/// the allocators of macOS find their guards broken (abort up to macOS 15, a trap from 26 on).
void heap_crash();
void bus_error();  ///< touches a mapped file beyond its end
void trap();       ///< the breakpoint instruction
void illegal_instruction();
void division();  ///< integer division by zero; on arm64, which has none, raises SIGFPE
void stack_overflow();
void wild_free();  ///< frees what no allocator ever gave: all of them abort with a text
void abort_silently();
void exit_zero();
void exit_eleven();
void killed_from_outside();  ///< a child process sends SIGKILL
void deadlock();
/// Call on every thread: each holds its own lock and waits for the next thread's.
void lock_cycle(int thread, int threads);
void lock_orphaned();  ///< waits for a lock that a thread held when it ended
void busy_loop();
/// Spins in code whose unwind table is wrong, so that an unwinder faults (Linux on x86-64).
void misleading_frame();
void abort_when_interrupted();  ///< sleeps, and takes a signal for the end of the world
void stopped();                 ///< SIGSTOP
void ignores_sigterm();         ///< and then deadlocks
void memory_hog();              ///< touches 128 MiB and keeps them
void uncaught_in_thread();      ///< an exception leaves the function of a std::thread
void throws();                  ///< std::runtime_error

}  // namespace mpsprobe::faults
