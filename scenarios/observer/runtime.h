#pragma once

#include <objc/runtime.h>
#ifdef __APPLE__
#include <objc/message.h>
#endif

namespace mpsprobe::observer {

/// Calls a method that the object has; the result of a method that it has not is R{}.
template <typename R, typename... A>
R send(id object, const char* name, A... arguments) {
  const SEL selector = sel_registerName(name);
  const Class its_class = object_getClass(object);
  if (object == nullptr || class_respondsToSelector(its_class, selector) == 0) return R();
  const IMP method = class_getMethodImplementation(its_class, selector);
  return reinterpret_cast<R (*)(id, SEL, A...)>(reinterpret_cast<void (*)()>(method))(
      object, selector, arguments...);
}

}  // namespace mpsprobe::observer
