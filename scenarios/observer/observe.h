#pragma once

/// The C interface of the observer: a library that watches how a program calls Metal, Metal
/// Performance Shaders and MPSGraph, and says which of their rules it breaks, also where nothing
/// else notices. It begins by itself in a program that it is inserted into, at the first device.
/// MPSPROBE_OBSERVER_REPORT names a file for what it found, a JSON object a line;
/// MPSPROBE_OBSERVER_TRAP, set to anything, is mpsprobe_observer_trap().
#ifdef __cplusplus
extern "C" {
#endif

/// Begins with this device (an id<MTLDevice>), for a program that has one already. Again: nothing
/// happens. Any thread.
void mpsprobe_observer_watch(void* device);

/// For a program that loaded this library by itself: makes a device as MTLCreateSystemDefaultDevice
/// does, watches with it, and lets it go. 0: there is none here. Any thread.
int mpsprobe_observer_begin(void);

/// Who is told of each finding instead of standard error, on the thread that makes the call, before
/// it is made: `proof` is 0 for a suspicion; `words`, of several lines, are valid during the call.
/// Set before watching; must not throw.
typedef void (*mpsprobe_observer_finding)(int proof, const char* words, void* context);
void mpsprobe_observer_tell(mpsprobe_observer_finding finding, void* context);

/// From now on a thread now and then waits for a moment inside an object that several threads use,
/// so that another one meets it there. Any thread.
void mpsprobe_observer_trap(void);

/// Outermost calls observed until now. Any thread.
unsigned long long mpsprobe_observer_calls(void);

#ifdef __cplusplus
}
#endif
