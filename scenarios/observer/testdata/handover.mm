// One thread makes a command buffer, another one adds a handler to it, legally each time:
// `observer_handover HOW`, how the second knows that the first is done with it. With `encoder`
// behind it opens an encoder and sets a buffer of it, which the device that stands in here refuses.
#import <Metal/Metal.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

bool encodes = false;

id made() {
  static id<MTLCommandQueue> const queue = [MTLCreateSystemDefaultDevice() newCommandQueue];
  id<MTLCommandBuffer> const commands = [[queue commandBuffer] retain];
  [commands addCompletedHandler:^(id<MTLCommandBuffer>){
  }];
  if (!encodes) return commands;
  id<MTLComputeCommandEncoder> const encoder = [[commands computeCommandEncoder] retain];
  [encoder setBuffer:nil offset:0 atIndex:0];
  return encoder;
}

void use(id given) {
  @autoreleasepool {
    if (encodes) return [given setBuffer:nil offset:0 atIndex:0];
    [given addCompletedHandler:^(id<MTLCommandBuffer>){
    }];
  }
}

void by_start() {
  id const commands = made();
  std::thread([commands] { use(commands); }).join();
}

void by_join() {
  id commands = nil;
  std::thread([&] { commands = made(); }).join();
  use(commands);
}

void by_lock() {
  std::mutex mutex;
  id commands = nil;
  std::thread other([&] {
    for (;;) {
      const std::lock_guard lock(mutex);
      if (commands == nil) continue;
      use(commands);
      break;
    }
  });
  {
    const std::lock_guard lock(mutex);
    commands = made();
  }
  other.join();
}

void by_condition() {
  std::mutex mutex;
  std::condition_variable ready;
  id commands = nil;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    ready.wait(lock, [&] { return commands != nil; });
    use(commands);
  });
  {
    const std::lock_guard lock(mutex);
    commands = made();
  }
  ready.notify_one();
  other.join();
}

// Legal as well, and not seen.
void by_atomic() {
  std::atomic<bool> ready = false;
  id commands = nil;
  std::thread other([&] {
    while (!ready.load()) std::this_thread::yield();
    use(commands);
  });
  commands = made();
  ready = true;
  other.join();
}

constexpr struct {
  const char* name;
  void (*run)();
} kWays[] = {{"start", by_start},
             {"join", by_join},
             {"lock", by_lock},
             {"condition", by_condition},
             {"atomic", by_atomic}};

}  // namespace

int main(int argc, char** argv) {
  encodes = argc == 3 && std::strcmp(argv[2], "encoder") == 0;
  for (const auto& each : kWays) {
    if (argc != (encodes ? 3 : 2) || std::strcmp(argv[1], each.name) != 0) continue;
    @autoreleasepool {
      each.run();
    }
    return 0;
  }
  std::fprintf(stderr, "usage: observer_handover start|join|lock|condition|atomic [encoder]\n");
  return 2;
}
