#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "harness/wire/ascii.h"
#include "scenarios/observer/event_actions.h"

namespace mpsprobe::observer {
namespace {

/// The buffers that each kernel of a text in Metal's language takes for certain.
std::map<std::string, uint32_t> kernels_of(std::string_view source) {
  std::map<std::string, uint32_t> kernels;
  for (size_t at = source.find("kernel"); at != std::string_view::npos;
       at = source.find("kernel", at + 6)) {
    const size_t open = source.find('(', at);
    const size_t body = source.find('{', at);
    if (open == std::string_view::npos || body == std::string_view::npos || open > body) continue;
    size_t end = open;
    while (end > at && !ascii::word(source[end - 1])) --end;
    size_t begin = end;
    while (begin > at && ascii::word(source[begin - 1])) --begin;
    const std::string_view head = source.substr(open, body - open);
    uint32_t needed = 0;
    // With a condition in it, or a macro, an argument may not be there.
    if (head.find("function_constant") == std::string_view::npos &&
        head.find('#') == std::string_view::npos) {
      constexpr std::string_view kBuffer = "[[buffer(";
      for (size_t next = head.find(kBuffer); next != std::string_view::npos;
           next = head.find(kBuffer, next + 1)) {
        unsigned index = 32;
        const std::string_view rest = head.substr(next + kBuffer.size());
        const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), index);
        if (read.ec == std::errc() && index < 32) needed |= uint32_t{1} << index;
      }
    }
    kernels[std::string(source.substr(begin, end - begin))] = needed;
  }
  return kernels;
}

std::string text_of_string(id string) {
  const auto* const text = send<const char*>(string, "UTF8String");
  return text == nullptr ? "" : text;
}

Object* result_of(Moment& moment, Role role) {
  if (moment.call.result == 0 || moment.call.thrown) return nullptr;
  const auto made = static_cast<id>(pointer(moment.call.result));
  Object& object = remember(moment.me, made, role, class_getName(object_getClass(made)));
  object.seen_made = true;
  return &object;
}

void graph_made_tensor(Moment& moment, Object&) {
  if (moment.call.result == 0 || moment.call.thrown) return;
  const auto made = static_cast<id>(pointer(moment.call.result));
  if (std::strcmp(class_getName(object_getClass(made)), "MPSGraphTensor") != 0) return;
  std::set<void*> placeholders;
  if (std::strncmp(moment.selector, "placeholder", 11) == 0) {
    placeholders.insert(made);
  } else {
    for (const uintptr_t each : *static_cast<std::array<uintptr_t, 8>*>(moment.call.context)) {
      const Object* const input = find(moment.me, pointer(each));
      if (input != nullptr && input->role == Role::tensor) {
        placeholders.insert(input->placeholders.begin(), input->placeholders.end());
      }
    }
  }
  Object& tensor = remember(moment.me, made, Role::tensor, "MPSGraphTensor");
  tensor.placeholders = std::move(placeholders);
}

}  // namespace

// --- libraries, functions, pipeline states

void device_reads_source(Moment& moment, Object&) {
  moment.call.context =
      new std::map<std::string, uint32_t>(kernels_of(text_of_string(object_at(moment, 0))));
}
void device_made_library(Moment& moment, Object&) {
  auto* const kernels = static_cast<std::map<std::string, uint32_t>*>(moment.call.context);
  if (Object* const library = result_of(moment, Role::library); library != nullptr)
    library->kernels = *kernels;
  delete kernels;
}

void library_names(Moment& moment, Object& library) {
  const auto at = library.kernels.find(text_of_string(object_at(moment, 0)));
  moment.call.mark = at == library.kernels.end() ? 0 : at->second;
}
void library_made_function(Moment& moment, Object&) {
  if (Object* const function = result_of(moment, Role::function); function != nullptr) {
    function->needed = static_cast<uint32_t>(moment.call.mark);
  }
}

void device_takes_function(Moment& moment, Object& device) {
  const Object* const function = find(moment.me, object_at(moment, 0));
  moment.call.mark = function == nullptr ? 0 : function->needed;
  if (object_at(moment, 0) == nullptr) broken(moment, RuleId::no_function, device);
}
void device_made_pipeline(Moment& moment, Object&) {
  if (Object* const pipeline = result_of(moment, Role::pipeline); pipeline != nullptr) {
    pipeline->needed = static_cast<uint32_t>(moment.call.mark);
  }
}

// --- Metal Performance Shaders

void kernel_encodes(Moment& moment, Object& kernel) {
  const bool into_encoder = std::strncmp(moment.selector, "encodeToCommandEncoder:", 23) == 0;
  Object* const first = find(moment.me, object_at(moment, 0));
  if (first == nullptr) return;
  if (!into_encoder) return buffer_opens_encoder(moment, *first);
  encoder_is_used(moment, *first);
  void* const given = object_at(moment, 1);
  // A command buffer of MPS's own wraps another, and either may be named.
  const Object* const buffer = find(moment.me, given);
  const bool wraps = buffer == nullptr ||
                     std::strcmp(buffer->class_name, "MPSCommandBuffer") == 0 ||
                     first->parents[1] != nullptr;
  if (first->seen_made && !wraps && first->parents[0] != given) {
    broken(moment, RuleId::foreign_encoder, kernel, "the encoder was opened here", &first->made);
  }
}

void shape_is_named(Moment& moment, Object&) {
  const auto bits = moment.call.argument(0) & 0xffffU;
  const id shape = object_at(moment, 1);
  uintptr_t elements = 1;
  const auto count = send<unsigned long>(shape, "count");
  for (unsigned long i = 0; i < count; ++i) {
    elements *=
        static_cast<uintptr_t>(send<long>(send<id>(shape, "objectAtIndex:", i), "integerValue"));
  }
  moment.call.mark = elements * bits / 8;
}
void descriptor_was_made(Moment& moment, Object&) {
  if (Object* const made = result_of(moment, Role::array); made != nullptr)
    made->last_use = moment.call.mark;
}
void array_takes_buffer(Moment& moment, Object&) {
  const id given = object_at(moment, 2);
  const Object* const descriptor = find(moment.me, given);
  if (descriptor == nullptr || descriptor->role != Role::array) return;
  uintptr_t size = descriptor->last_use;
  // Where it was sliced since, it says so.
  if (const auto dimensions = send<unsigned long>(given, "numberOfDimensions"); dimensions != 0) {
    size = (send<unsigned>(given, "dataType") & 0xffffU) / 8;
    for (unsigned long i = 0; i < dimensions; ++i)
      size *= send<unsigned long>(given, "lengthOfDimension:", i);
  }
  if (!beyond(object_at(moment, 0), moment.call.argument(1), size)) return;
  Object named;
  named.role = Role::array;
  named.class_name = moment.class_name;
  named.address = moment.call.self;
  broken(moment, RuleId::array_beyond_buffer, named);
}

// --- MPSGraph

void graph_takes_tensors(Moment& moment, Object&) {
  moment.call.context = new std::array<uintptr_t, 8>(moment.call.frame.integers);
}
void graph_made(Moment& moment, Object& graph) {
  graph_made_tensor(moment, graph);
  delete static_cast<std::array<uintptr_t, 8>*>(moment.call.context);
}

void graph_is_encoded(Moment& moment, Object& graph) {
  if (Object* const buffer = find(moment.me, object_at(moment, 0)); buffer != nullptr) {
    buffer_opens_encoder(moment, *buffer);
  }
  const id feeds = object_at(moment, 1);
  const id targets = send<id>(object_at(moment, 3), "allKeys");
  const auto count = send<unsigned long>(targets, "count");
  for (unsigned long i = 0; i < count; ++i) {
    const Object* const tensor = find(moment.me, send<id>(targets, "objectAtIndex:", i));
    if (tensor == nullptr || tensor->role != Role::tensor) continue;
    for (void* placeholder : tensor->placeholders) {
      if (send<id>(feeds, "objectForKey:", static_cast<id>(placeholder)) != nullptr) continue;
      broken(moment, RuleId::unfed_placeholder, graph);
      return;
    }
  }
}

}  // namespace mpsprobe::observer
