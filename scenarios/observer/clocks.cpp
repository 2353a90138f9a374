#include "scenarios/observer/clocks.h"

#include <algorithm>
#include <mutex>

#include "scenarios/observer/objects.h"

namespace mpsprobe::observer {
namespace {

// Things that share a place order more than each does by itself, as threads do.
struct Place {
  Spin spin;
  Clock clock{};
};
std::array<Place, 1024> places;
std::atomic<uint32_t> latest = 0;

Place& place_of(const void* what) {
  const auto number = reinterpret_cast<uintptr_t>(what);
  return places[(number >> 4U ^ number >> 14U) % places.size()];
}

uint32_t& own(Thread& me) {
  return me.clock[me.number % me.clock.size()];
}

void take_over(Clock& into, const Clock& from) {
  std::transform(into.begin(), into.end(), from.begin(), into.begin(),
                 [](uint32_t a, uint32_t b) { return std::max(a, b); });
}

}  // namespace

uint32_t time_of(const Thread& me) {
  return me.clock[me.number % me.clock.size()];
}

bool comes_after(const Thread& me, uint32_t number, uint32_t time) {
  return me.clock[number % me.clock.size()] >= time;
}

void begin_time(Thread& me, const Clock* parent) {
  me.clock = {};
  if (parent != nullptr) me.clock = *parent;
  own(me) = ++latest;
}

void released(Thread& me, const void* what) {
  Place& place = place_of(what);
  {
    const std::lock_guard lock(place.spin);
    take_over(place.clock, me.clock);
  }
  own(me) = ++latest;
}

void acquired(Thread& me, const void* what) {
  Place& place = place_of(what);
  const std::lock_guard lock(place.spin);
  take_over(me.clock, place.clock);
}

}  // namespace mpsprobe::observer
