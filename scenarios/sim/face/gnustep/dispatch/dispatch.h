#pragma once

/// What programs against Metal ask of libdispatch, where there is none: serial queues, whose blocks
/// run on the thread that hands them in, and what stands around them. Any thread.

#include <stddef.h>
#include <stdint.h>

#define DISPATCH_QUEUE_SERIAL nullptr
#define DISPATCH_CURRENT_QUEUE_LABEL ((dispatch_queue_t) nullptr)
#define DISPATCH_TIME_FOREVER (~0ull)

extern "C" {

typedef struct dispatch_queue_s* dispatch_queue_t;
typedef void (^dispatch_block_t)(void);

dispatch_queue_t dispatch_queue_create(const char* label, void* attributes);
void dispatch_release(void* object);
/// Ends the process, as libdispatch does, on a thread that runs on the queue already. What the
/// block throws passes.
void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_sync_f(dispatch_queue_t queue, void* context, void (*work)(void*));
/// With DISPATCH_CURRENT_QUEUE_LABEL of the queue that the calling thread runs on, "" where none.
const char* dispatch_queue_get_label(dispatch_queue_t queue);
typedef struct dispatch_data_s* dispatch_data_t;
dispatch_queue_t dispatch_get_main_queue(void);
dispatch_data_t dispatch_data_create(const void* bytes, size_t size, dispatch_queue_t queue,
                                     dispatch_block_t destructor);
/// Each in its turn, on the calling thread.
void dispatch_apply(size_t times, dispatch_queue_t queue, void (^block)(size_t));
}
