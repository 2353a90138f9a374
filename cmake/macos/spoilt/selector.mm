// Spoilt: a selector that Metal's device has not.
#import <Metal/Metal.h>

int main() {
  id<MTLDevice> const device = MTLCreateSystemDefaultDevice();
#ifdef MPSPROBE_SPOILT
  return [device newQueueOfCommands] == nil;
#else
  return [device newCommandQueue] == nil;
#endif
}
