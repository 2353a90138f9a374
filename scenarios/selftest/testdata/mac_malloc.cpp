// malloc as macOS has it, as far as a program can damage it, for a worker on Linux (LD_PRELOAD):
// blocks of up to 256 bytes come from one region of 512 MB, all of which may be written, and free
// ones hold a guard and the next one. What is done where a guard is wrong, and where something is
// freed that is no block, is what libmalloc does:
//   MAC_MALLOC=nano    libmalloc-657 (macOS 15), nanov2_malloc.c, nanov2_guard_corruption_detected:
//   says so, and aborts MAC_MALLOC=xzone   libmalloc-792 (macOS 26), xzone_inline_internal.h,
//   _xzm_corruption_detected: traps, without a
//                      word but for the crash report
//   MAC_MALLOC=tiny    what all of them do with MallocNanoZone=0, magazine_tiny.c: the last block
//   freed is kept aside and
//                      given back unseen; those before it are looked at
// Of both: malloc_common.c, pointer being freed was not allocated. Blocks are never given back;
// larger ones are cut from the same kind of region.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace {

constexpr size_t kRegion = size_t{512} << 20;
constexpr size_t kQuantum = 16;
constexpr size_t kLargestSmall = 256;
constexpr uint64_t kCookie = 0x5eed'c001'd00d'f00d;

struct FreeBlock {
  uint64_t guard;
  FreeBlock* next;
};

// Memory that is cut off from its beginning.
struct Region {
  explicit Region(size_t bytes)
      : begin(static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        end(begin + bytes),
        unused(begin) {}
  bool holds(const void* block) const { return block >= begin && block < end; }

  char* begin;
  char* end;
  char* unused;
};

std::atomic_flag locked = ATOMIC_FLAG_INIT;
struct Lock {
  Lock() {
    while (locked.test_and_set(std::memory_order_acquire)) {
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { locked.clear(std::memory_order_release); }
};

struct Heap {
  Region small{kRegion};
  Region large{kRegion * 8};
  FreeBlock* free_blocks[kLargestSmall / kQuantum + 1] = {};
  void* last_free = nullptr;  // of tiny alone
};

bool is(const char* name) {
  const char* const allocator = getenv("MAC_MALLOC");
  return allocator != nullptr && strcmp(allocator, name) == 0;
}

// Made by the first allocation, which comes before any constructor.
Heap& heap() {
  alignas(Heap) static char memory[sizeof(Heap)];
  static bool made = false;
  if (!made) {
    new (memory) Heap();
    made = true;
  }
  return *reinterpret_cast<Heap*>(memory);
}

void say(const char* format, const void* block) {
  char text[256];
  const int length = snprintf(text, sizeof(text), format, static_cast<int>(getpid()), block);
  if (write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) return;
  constexpr char kHint[] = "*** set a breakpoint in malloc_error_break to debug\n";
  if (write(STDERR_FILENO, kHint, sizeof(kHint) - 1) < 0) return;
}

[[noreturn]] void found_corruption(const void* block) {
  if (is("xzone")) __builtin_trap();
  if (is("tiny")) {
    say("worker(%d,0x16f5e3000) malloc: Incorrect checksum for freed object %p: probably modified "
        "after being freed.\nCorrupt value: 0x5c0\n",
        block);
    abort();
  }
  say("worker(%d,0x16f5e3000) malloc: Heap corruption detected, free list is damaged at %p\n"
      "*** Incorrect guard value: 1472\n",
      block);
  abort();
}

// Before each block stands its size.
size_t& size_of(void* block) {
  return *reinterpret_cast<size_t*>(static_cast<char*>(block) - kQuantum);
}

uint64_t guard_of(const FreeBlock* block) {
  return reinterpret_cast<uint64_t>(block) ^ kCookie;
}

void* take(size_t bytes, size_t alignment) {
  const size_t size = (bytes + kQuantum - 1) / kQuantum * kQuantum + (bytes == 0 ? kQuantum : 0);
  const Lock lock;
  Heap& all = heap();
  const bool small = size <= kLargestSmall && alignment <= kQuantum;
  if (small && all.last_free != nullptr && size_of(all.last_free) == size) {
    void* const block = all.last_free;
    all.last_free = nullptr;
    memset(block, 0, size);
    return block;
  }
  if (small) {
    FreeBlock*& first = all.free_blocks[size / kQuantum];
    if (first != nullptr) {
      FreeBlock* const block = first;
      if (block->guard != guard_of(block)) found_corruption(block);
      first = block->next;
      memset(block, 0, size);
      return block;
    }
  }
  Region& region = small ? all.small : all.large;
  const auto at = reinterpret_cast<uintptr_t>(region.unused) + kQuantum;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto* const block = reinterpret_cast<char*>((at + alignment - 1) / alignment * alignment);
  if (block + size > region.end) {
    errno = ENOMEM;
    return nullptr;
  }
  region.unused = block + size;
  size_of(block) = size;
  return block;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) {
  return take(bytes, kQuantum);
}

void free(void* block) {
  if (block == nullptr) return;
  const Lock lock;
  Heap& all = heap();
  if (!all.small.holds(block) && !all.large.holds(block)) {
    say("worker(%d,0x16f5e3000) malloc: *** error for object %p: pointer being freed was not "
        "allocated\n",
        block);
    abort();
  }
  if (!all.small.holds(block)) return;
  if (is("tiny")) std::swap(block, all.last_free);
  if (block == nullptr) return;
  auto* const freed = static_cast<FreeBlock*>(block);
  FreeBlock*& first = all.free_blocks[size_of(block) / kQuantum];
  freed->guard = guard_of(freed);
  freed->next = first;
  first = freed;
}

void* calloc(size_t count, size_t bytes) {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  return take(all, kQuantum);  // fresh pages are zero, and what is taken again is made so
}

void* realloc(void* block, size_t bytes) {
  void* const larger = take(bytes, kQuantum);
  if (block == nullptr || larger == nullptr) return larger;
  memcpy(larger, block, size_of(block) < bytes ? size_of(block) : bytes);
  free(block);
  return larger;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return take(bytes, alignment < kQuantum ? kQuantum : alignment);
}
void* memalign(size_t alignment, size_t bytes) {
  return aligned_alloc(alignment, bytes);
}
int posix_memalign(void** block, size_t alignment, size_t bytes) {
  *block = aligned_alloc(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}
size_t malloc_usable_size(void* block) {
  return block == nullptr ? 0 : size_of(block);
}
}
