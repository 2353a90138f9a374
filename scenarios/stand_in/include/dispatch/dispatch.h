#pragma once

/// What LibTorch's headers and their users need of libdispatch where there is none: the type of a
/// serial queue, and the call that runs a function on it. For the stand-in alone, whose queues are
/// those of its streams.

extern "C" {

typedef struct dispatch_queue_s* dispatch_queue_t;

/// Runs `work(context)` on the queue, on the calling thread, when nothing else runs on it. What it
/// throws passes. Any thread; ends the process on a thread that runs on the queue already.
void dispatch_sync_f(dispatch_queue_t queue, void* context, void (*work)(void*));

/// The name of that queue; with DISPATCH_CURRENT_QUEUE_LABEL of the one that the calling thread
/// runs on, "" where there is none. Any thread.
#define DISPATCH_CURRENT_QUEUE_LABEL ((dispatch_queue_t) nullptr)
const char* dispatch_queue_get_label(dispatch_queue_t queue);
}

#ifdef __BLOCKS__
/// The same with a block.
inline void dispatch_sync(dispatch_queue_t queue, void (^work)(void)) {
  dispatch_sync_f(queue, &work, [](void* block) { (*static_cast<void (^*)(void)>(block))(); });
}
#endif
