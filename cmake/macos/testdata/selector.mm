// Spoilt: a selector that Metal's device has not.
#import <Metal/Metal.h>
#include <os/object.h>

static_assert(OS_OBJECT_USE_OBJC, "a dispatch queue is an object, as for Apple's own compiler");

int main() {
  id<MTLDevice> const device = MTLCreateSystemDefaultDevice();
#ifdef MPSPROBE_SPOILT_SELECTOR
  return [device newQueueOfCommands] == nil;
#else
  return [device newCommandQueue] == nil;
#endif
}
