#pragma once

#include <array>
#include <cstdint>

namespace mpsprobe::observer {

/// What a thread knows of the others' time: by their numbers, as far as there is room. Numbers that
/// share a place count as ordered sooner than they are: a suspicion may be missed, none is added.
using Clock = std::array<uint32_t, 64>;

struct Thread;

/// The thread's own time; each thing that it lets go of begins another.
uint32_t time_of(const Thread& me);

/// Whether `me` comes after that time of the thread with that number.
bool comes_after(const Thread& me, uint32_t number, uint32_t time);

/// A thread has its first time. `parent`: of the thread that started it; null where that is not
/// known.
void begin_time(Thread& me, const Clock* parent);

/// What orders threads, by its address: who acquires it comes after all who released it before.
/// Any thread.
void released(Thread& me, const void* what);
void acquired(Thread& me, const void* what);

}  // namespace mpsprobe::observer
