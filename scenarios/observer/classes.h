#pragma once

#include "scenarios/observer/objects.h"
#include "scenarios/observer/runtime.h"

namespace mpsprobe::observer {

/// Whether watch_classes() has been called. Any thread, at any time.
bool is_watching();

/// Begins to watch: the classes of Metal Performance Shaders and MPSGraph that are loaded, those of
/// the device's driver, so that the first calls cost no more than others, and from now on each
/// class at the first sight of one of its objects. `device` may be nil. Once a process. Any thread.
void watch_classes(id device);

/// Replaces the methods of the object's class that its Metal protocols declare, where it has not
/// happened yet. What it cannot replace stays as it is. Any thread.
void see(Thread& me, id object);

}  // namespace mpsprobe::observer
