#pragma once

#include "scenarios/observer/forwarding/forwarding.h"
#include "scenarios/observer/objects.h"

namespace mpsprobe::observer {

/// One outermost or nested call of a hooked method.
struct Moment {
  Call& call;
  Thread& me;
  const char* selector;
  const char* class_name;
  bool outermost;  ///< the program's own call: what a framework does for itself is not judged
};

/// A row of the table: what a method means to the rules.
struct Event {
  Role role;
  const char* selector;  ///< its beginning where `prefix`
  bool prefix;
  bool exclusive;  ///< one thread at a time may be inside the object
  void (*before)(Moment&, Object&);
  void (*after)(Moment&, Object&);
};

/// The first row for the method; nullptr where the rules do not ask for it.
const Event* event_for(Role role, const char* selector);

/// What every method that has a row does first: two threads inside, a thread that nobody ordered.
/// Returns whether leave_object is to be called.
bool enter_object(Moment& moment, Object& object, const Event& event);
void leave_object(Moment& moment, Object& object);

/// Where the calling program is.
Site here(const Moment& moment);

}  // namespace mpsprobe::observer
