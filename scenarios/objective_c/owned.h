#pragma once

#import <Foundation/Foundation.h>

#include <utility>

// Objective-C from C++ without ARC. C++ exceptions pass these classes' destructors; an
// @autoreleasepool block they must not pass, since it is left undrained.

namespace mpsprobe {

/// An autorelease pool for the scope of this object. Apple: every thread of one's own needs one.
class Pool {
 public:
  Pool() : pool_([[NSAutoreleasePool alloc] init]) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { [pool_ drain]; }

 private:
  NSAutoreleasePool* pool_;
};

/// Ownership of one reference to an Objective-C object.
template <typename Object>
class Owned {
 public:
  Owned() = default;
  /// Takes over a reference that the caller owns (alloc, new, copy).
  static Owned adopt(Object object) { return Owned(object); }
  /// Adds a reference of its own to one that the caller does not own.
  static Owned retain(Object object) { return Owned([object retain]); }
  Owned(const Owned& other) : object_([other.object_ retain]) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nil)) {}
  Owned& operator=(Owned other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { [object_ release]; }

  Object get() const { return object_; }
  explicit operator bool() const { return object_ != nil; }

 private:
  explicit Owned(Object object) : object_(object) {}
  Object object_ = nil;
};

}  // namespace mpsprobe
