// Which methods are replaced. Apple's own classes have names that differ from chip to chip; what
// they have in common is the protocols that the public headers declare, and so a class is hooked by
// those. Methods are replaced in the class that has them, once.
#include "scenarios/observer/classes.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/observer/events.h"

namespace mpsprobe::observer {
namespace {

/// What a stub is given: which method of which class it is.
struct Replaced {
  const char* selector;
  const char* class_name;
  Role role;
  const Event* event;
};

struct Hooks {
  std::mutex mutex;
  std::set<Class> seen;
  std::set<std::pair<Class, std::string>> replaced;
  std::deque<Replaced> methods;
};

Hooks& hooks() {
  static auto* const all = new Hooks;
  return *all;
}

std::atomic<bool> watching = false;

constexpr struct {
  const char* protocol;
  Role role;
} kRoles[] = {
    {"MTLDevice", Role::device},
    {"MTLCommandQueue", Role::queue},
    {"MTLCommandBuffer", Role::command_buffer},
    {"MTLCommandEncoder", Role::encoder},
    {"MTLLibrary", Role::library},
    {"MTL4CommandQueue", Role::queue4},
    {"MTL4CommandBuffer", Role::command_buffer4},
    {"MTL4CommandEncoder", Role::encoder},
    {"MTL4CommandAllocator", Role::allocator},
};

// Classes that have no protocol of Metal's, by name, with their subclasses.
constexpr struct {
  const char* name;
  Role role;
} kClasses[] = {{"MPSKernel", Role::kernel},
                {"MPSNDArray", Role::array},
                {"MPSNDArrayDescriptor", Role::array},
                {"MPSCommandBuffer", Role::command_buffer},
                {"MPSGraph", Role::graph},
                {"MTL4CommitOptions", Role::commit_options}};

void collect(Protocol* protocol, std::set<std::string>& names, std::set<std::string>& selectors) {
  const char* const name = protocol_getName(protocol);
  if (std::strncmp(name, "MTL", 3) != 0 || !names.insert(name).second) return;
  for (const BOOL required : {BOOL{1}, BOOL{0}}) {
    unsigned count = 0;
    auto* const list = protocol_copyMethodDescriptionList(protocol, required, BOOL{1}, &count);
    for (unsigned i = 0; i < count; ++i) selectors.insert(sel_getName(list[i].name));
    std::free(list);
  }
  unsigned count = 0;
  auto* const parents = protocol_copyProtocolList(protocol, &count);
  for (unsigned i = 0; i < count; ++i) collect(parents[i], names, selectors);
  std::free(parents);
}

/// Replaces the method where its class has it itself; `add`: gives the class one of its own before.
void replace(Class in, SEL selector, Role role, bool add) {
  Hooks& all = hooks();
  Method const method = class_getInstanceMethod(in, selector);
  if (method == nullptr) return;
  const Class above = class_getSuperclass(in);
  const bool inherited = above != nullptr && class_getInstanceMethod(above, selector) == method;
  if (inherited && !add) return;
  const char* const name = sel_getName(selector);
  const Event* const event = event_for(role, name);
  if (event == nullptr && method_getTypeEncoding(method)[0] != '@') return;
  if (!all.replaced.insert({in, name}).second) return;
  const auto& about = all.methods.emplace_back(Replaced{name, class_getName(in), role, event});
  const auto original = reinterpret_cast<Function>(method_getImplementation(method));
  const Function stub = forward_to(original, method_getTypeEncoding(method), &about);
  if (stub == nullptr) return;
  class_replaceMethod(in, selector, reinterpret_cast<IMP>(stub), method_getTypeEncoding(method));
}

void replace_all(Class in, Role role, const std::set<std::string>& selectors) {
  for (const std::string& name : selectors)
    replace(in, sel_registerName(name.c_str()), role, false);
}

std::set<std::string> own_methods(Class in) {
  std::set<std::string> names;
  unsigned count = 0;
  Method* const list = class_copyMethodList(in, &count);
  for (unsigned i = 0; i < count; ++i) names.insert(sel_getName(method_getName(list[i])));
  std::free(list);
  return names;
}

void hook_by_protocols(Class of) {
  std::set<std::string> protocols;
  std::set<std::string> selectors;
  for (Class each = of; each != nullptr; each = class_getSuperclass(each)) {
    unsigned count = 0;
    auto* const list = class_copyProtocolList(each, &count);
    for (unsigned i = 0; i < count; ++i) collect(list[i], protocols, selectors);
    std::free(list);
  }
  Role role = Role::none;
  for (const auto& row : kRoles) {
    if (protocols.contains(row.protocol)) role = row.role;
  }
  if (role == Role::none) return;
  // The class itself and those above it, but the root that all classes share.
  Class each = of;
  while (const Class above = class_getSuperclass(each)) {
    replace_all(each, role, selectors);
    each = above;
  }
  // Where an object ends: its address comes again.
  if (event_for(role, "dealloc") != nullptr) replace(of, sel_registerName("dealloc"), role, true);
}

void hook_by_name(Class of) {
  for (Class above = of; above != nullptr; above = class_getSuperclass(above)) {
    for (const auto& row : kClasses) {
      if (std::strcmp(class_getName(above), row.name) != 0) continue;
      if (row.role == Role::command_buffer) hook_by_protocols(of);
      // A graph's own initialiser and end are no operations.
      for (const std::string& name : own_methods(of)) {
        const bool event = event_for(row.role, name.c_str()) != nullptr &&
                           !name.starts_with("init") && name != "dealloc" &&
                           name.find(':') != std::string::npos;
        if (event || name.starts_with("initWithBuffer:"))
          replace(of, sel_registerName(name.c_str()), row.role, false);
      }
      const Class meta = object_getClass(reinterpret_cast<id>(of));
      for (const char* made : {"descriptorWithDataType:shape:", "commandBufferFromCommandQueue:"}) {
        if (event_for(row.role, made) != nullptr)
          replace(meta, sel_registerName(made), row.role, false);
      }
      return;
    }
  }
}

std::vector<Class> loaded_classes() {
  std::vector<Class> classes(static_cast<size_t>(objc_getClassList(nullptr, 0)));
  const int count = objc_getClassList(classes.data(), static_cast<int>(classes.size()));
  classes.resize(std::min(classes.size(), static_cast<size_t>(count)));
  return classes;
}

#ifdef __APPLE__
bool in_image_of(Class one, Class other) {
  return class_getImageName(one) == class_getImageName(other);
}
#else
// GNU's runtime does not tell; no other classes have Metal's protocols here.
bool in_image_of(Class, Class) {
  return true;
}
#endif

void enter(Call& call) {
  Thread& me = this_thread();
  call.thread = &me;
  const auto& method = *static_cast<const Replaced*>(call.method);
  const bool outermost = me.depth++ == 0;
  if (outermost)
    me.calls.store(me.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (method.event == nullptr) return;
  Object& object = find_or_remember(me, call.self, method.role, method.class_name);
  Moment moment{call, me, method.selector, method.class_name, outermost};
  call.known = &object;
  if (enter_object(moment, object, *method.event)) me.alone = &object;
  if (method.event->before != nullptr) method.event->before(moment, object);
}

void leave(Call& call) {
  Thread& me = *static_cast<Thread*>(call.thread);
  const auto& method = *static_cast<const Replaced*>(call.method);
  const bool outermost = me.depth == 1;
  if (!call.thrown && call.shape.object_result && call.result != 0)
    see(me, static_cast<id>(pointer(call.result)));
  if (method.event != nullptr) {
    Moment moment{call, me, method.selector, method.class_name, outermost};
    if (outermost && me.alone != nullptr) leave_object(moment, *std::exchange(me.alone, nullptr));
    if (method.event->after != nullptr) {
      // Another one where it has ended meanwhile.
      auto* const object = static_cast<Object*>(call.known);
      const bool there = object->address.load(std::memory_order_relaxed) == call.self;
      method.event->after(
          moment,
          there ? *object : find_or_remember(me, call.self, method.role, method.class_name));
    }
  }
  --me.depth;
}

}  // namespace

void see(Thread& me, id object) {
  const Class of = object_getClass(object);
  // Without a lock where this thread has seen the class lately.
  const void*& known = me.classes[(reinterpret_cast<uintptr_t>(of) >> 5U) % me.classes.size()];
  if (of == known) return;
  Hooks& all = hooks();
  const std::lock_guard lock(all.mutex);
  known = of;
  if (!all.seen.insert(of).second) return;
  hook_by_protocols(of);
}

bool is_watching() {
  return watching.load(std::memory_order_relaxed);
}

void watch_classes(id device) {
  watching = true;
  visit_calls({enter, leave});
  Hooks& all = hooks();
  const std::lock_guard lock(all.mutex);
  for (const Class each : loaded_classes()) {
    const std::string_view name = class_getName(each);
    if (name.starts_with("MPS") || name == "MTL4CommitOptions") {
      hook_by_name(each);
    } else if (device != nullptr && in_image_of(object_getClass(device), each) &&
               all.seen.insert(each).second) {
      hook_by_protocols(each);
    }
  }
}

}  // namespace mpsprobe::observer
