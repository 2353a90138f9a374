#pragma once

/// The C interface of the observer: a library that watches how a program calls Metal, Metal
/// Performance Shaders and MPSGraph, and says which of their rules it breaks, also where nothing
/// else notices. It begins by itself in a program that it is inserted into, at the first device.
/// MPSPROBE_OBSERVER_REPORT names a file for what it found, a JSON object a line.
#ifdef __cplusplus
extern "C" {
#endif

/// Begins with this device (an id<MTLDevice>), for a program that has one already. Again: nothing
/// happens. Any thread.
void mpsprobe_observer_watch(void* device);

/// Outermost calls observed until now. Any thread.
unsigned long long mpsprobe_observer_calls(void);

#ifdef __cplusplus
}
#endif
