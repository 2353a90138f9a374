#pragma once

#import <Foundation/Foundation.h>

#include <utility>

namespace mpsprobe::sim::face {

/// Shared ownership of an Objective-C object for C++ code, which knows no autorelease pools.
template <typename Object>
class Retained {
 public:
  explicit Retained(Object object) : object_([object retain]) {}
  Retained(const Retained& other) : object_([other.object_ retain]) {}
  Retained(Retained&& other) noexcept : object_(std::exchange(other.object_, nil)) {}
  Retained& operator=(Retained other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Retained() { [object_ release]; }

  Object get() const { return object_; }

 private:
  Object object_;
};

}  // namespace mpsprobe::sim::face
