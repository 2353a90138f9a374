// Calls through a stub: every distinct signature of Metal's, Metal Performance Shaders' and
// MPSGraph's headers, and the hard cases. Each function is called with other values in every
// argument, sums them up in an order-dependent way, and returns a value of its type made of that.
#include "scenarios/observer/forwarding/forwarding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace mpsprobe::observer {
namespace {

struct Words1 {
  unsigned long a;
};
struct Words2 {
  unsigned long a, b;
};
struct Words3 {
  unsigned long a, b, c;
};
struct Words4 {
  unsigned long a, b, c, d;
};
struct Words6 {
  unsigned long a, b, c, d, e, f;
};
struct Words11 {
  unsigned long a[11];
};
struct Words16 {
  unsigned long a[16];
};
struct Unsigneds4 {
  unsigned a, b, c, d;
};
struct WordAndFloat {
  unsigned long a;
  float b;
};
struct Bytes4 {
  unsigned char a, b, c, d;
};
struct Floats2 {
  float a, b;
};
struct Floats3 {
  float a, b, c;
};
struct Doubles4 {
  double a, b, c, d;
};
struct Doubles6 {
  double a, b, c, d, e, f;
};
using Vector = float __attribute__((vector_size(16)));
struct Box {
  Vector a, b;
};
struct Histogram {
  unsigned long a;
  bool b;
  Vector c, d;
};

// As the compiler writes the type.
template <typename T>
constexpr const char* kCode = "^v";
template <>
constexpr const char* kCode<void> = "v";
template <>
constexpr const char* kCode<bool> = "B";
template <>
constexpr const char* kCode<unsigned char> = "C";
template <>
constexpr const char* kCode<short> = "s";
template <>
constexpr const char* kCode<unsigned short> = "S";
template <>
constexpr const char* kCode<int> = "i";
template <>
constexpr const char* kCode<unsigned> = "I";
template <>
constexpr const char* kCode<long> = "q";
template <>
constexpr const char* kCode<unsigned long> = "Q";
template <>
constexpr const char* kCode<float> = "f";
template <>
constexpr const char* kCode<double> = "d";
template <>
constexpr const char* kCode<Words1> = "{MTLResourceID=Q}";
template <>
constexpr const char* kCode<Words2> = "{_NSRange=\"location\"Q\"length\"Q}";
template <>
constexpr const char* kCode<Words3> = "{?=QQQ}";
template <>
constexpr const char* kCode<Words4> = "{?=[4Q]}";
template <>
constexpr const char* kCode<Words6> = "{?={?=QQQ}{?=QQQ}}";
template <>
constexpr const char* kCode<Words11> = "{MPSStateTextureInfo=QQQQQQQ[4Q]}";
template <>
constexpr const char* kCode<Words16> = "{?=[16q]}";
template <>
constexpr const char* kCode<Unsigneds4> = "{?=IIII}";
template <>
constexpr const char* kCode<WordAndFloat> = "{?=Qf}";
template <>
constexpr const char* kCode<Bytes4> = "{?=CCCC}";
template <>
constexpr const char* kCode<Floats2> = "{?=ff}";
template <>
constexpr const char* kCode<Floats3> = "{?=(?={?=fff}[3f])}";
template <>
constexpr const char* kCode<Doubles4> = "{?=dddd}";
template <>
constexpr const char* kCode<Doubles6> = "{?=dddddd}";
template <>
constexpr const char* kCode<Vector> = "";
template <>
constexpr const char* kCode<Box> = "{_MPSAxisAlignedBoundingBox=}";
template <>
constexpr const char* kCode<Histogram> = "{?=QB}";

/// On x86-64 self comes after the address of a result in memory, and the types do not tell of one
/// that has vectors in it: the call is forwarded, of an object that is not right. No method that is
/// hooked returns such a thing.
#ifdef __x86_64__
template <typename R>
constexpr bool kSelfIsKnown = !std::is_same_v<R, Box> && !std::is_same_v<R, Histogram>;
#else
template <typename R>
constexpr bool kSelfIsKnown = true;
#endif

template <typename R, typename... A>
std::string types() {
  size_t frame = 16;
  std::string arguments = "@0:8";
  ((arguments += kCode<A> + std::to_string(frame), frame += sizeof(A) < 4 ? 4 : sizeof(A)), ...);
  return kCode<R> + std::to_string(frame) + arguments;
}

template <typename T>
T value(unsigned seed) {
  T made{};
  if constexpr (std::is_same_v<T, bool>) {
    made = seed % 2 == 1;
  } else if constexpr (std::is_pointer_v<T>) {
    made = reinterpret_cast<T>(uintptr_t{0x1000003} * (seed + 1));
  } else if constexpr (std::is_integral_v<T>) {
    made = static_cast<T>(0x9e3779b97f4a7c15ULL * (seed + 1));
  } else if constexpr (std::is_floating_point_v<T>) {
    made = static_cast<T>(seed) + static_cast<T>(0.25);
  } else {
    auto* const bytes = reinterpret_cast<unsigned char*>(&made);
    for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(seed * 31 + i * 7);
  }
  return made;
}

unsigned sum = 0;
template <typename T>
void add(const T& argument) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &argument, sizeof(T));
  for (const unsigned char each : bytes) sum = sum * 33 + each;
}

constexpr unsigned kThrow = 12345;
unsigned asked = 0;

template <typename R, typename... A>
R original(void* self, const char* selector, A... arguments) {
  sum = 5381;
  add(self);
  add(selector);
  (add(arguments), ...);
  if (asked == kThrow) throw std::runtime_error("thrown by the original");
  if constexpr (!std::is_void_v<R>) return value<R>(sum % 97);
}

struct Seen {
  int entered = 0;
  int left = 0;
  int thrown = 0;
  void* self = nullptr;
  const void* method = nullptr;
} seen;

void look() {
  visit_calls({[](Call& call) {
                 ++seen.entered;
                 seen.self = call.self;
                 seen.method = call.method;
               },
               [](Call& call) {
                 ++seen.left;
                 seen.thrown += call.thrown ? 1 : 0;
               }});
  seen = {};
  asked = 0;
}

template <typename T>
std::string bytes_of(const T& of) {
  return {reinterpret_cast<const char*>(&of), sizeof(T)};
}

/// Calls the function itself and through a stub; empty where both are the same.
template <typename R, typename... A, size_t... I>
std::string difference(std::index_sequence<I...>) {
  using Method = R (*)(void*, const char*, A...);
  const std::string encoding = types<R, A...>();
  const Method direct = original<R, A...>;
  static const auto forwarded =
      reinterpret_cast<Method>(forward_to(reinterpret_cast<Function>(direct), encoding, "method"));
  if (forwarded == nullptr) return "not forwarded: " + encoding;
  int object = 0;
  look();
  const auto call = [&](Method function) {
    if constexpr (std::is_void_v<R>) {
      function(&object, "selector", value<A>(static_cast<unsigned>(I))...);
      return std::string();
    } else {
      return bytes_of(function(&object, "selector", value<A>(static_cast<unsigned>(I))...));
    }
  };
  const std::string right = call(direct);
  const unsigned right_sum = sum;
  sum = 0;
  const std::string got = call(forwarded);
  if (sum != right_sum) return "other arguments arrived: " + encoding;
  if (got != right) return "another result came back: " + encoding;
  if (seen.entered != 1 || seen.left != 1) return "not seen: " + encoding;
  if (kSelfIsKnown<R> && seen.self != &object) return "another object: " + encoding;
  return "";
}

template <typename R, typename... A>
std::string check() {
  return difference<R, A...>(std::index_sequence_for<A...>());
}

TEST(Forwarding, EverySignatureOfApplesHeadersArrivesUnchanged) {
  int count = 0;
#define SIGNATURE(...)                   \
  EXPECT_EQ((check<__VA_ARGS__>()), ""); \
  ++count;
#include "scenarios/observer/forwarding/testdata/signatures.inc"
#undef SIGNATURE
  EXPECT_EQ(count, 343);
}

TEST(Forwarding, ArgumentsBeyondTheRegistersArrive) {
  EXPECT_EQ((check<long, long, double, short, float, Words3, bool, double, float, void*, Floats3,
                   unsigned char, double, double, double, double, double, double, long>()),
            "");
  EXPECT_EQ((check<double, float, float, float, float, float, float, float, float, float, float>()),
            "");
  EXPECT_EQ((check<Words6, bool, bool, bool, bool, bool, bool, bool, bool, bool, bool, bool, bool,
                   bool, bool, bool, bool, bool, bool, bool, bool, bool, bool, bool, bool>()),
            "");
  EXPECT_EQ((check<void, Words2, Words2, Words2, Words2, Bytes4>()), "");
}

TEST(Forwarding, StructuresOfFloatsAndVectorsArrive) {
  EXPECT_EQ((check<Floats2, Floats2, Floats3, Doubles4, Doubles4, Floats3, Floats2>()), "");
  EXPECT_EQ((check<Floats3, Floats3>()), "");
  EXPECT_EQ((check<Doubles4, Doubles4, Doubles6>()), "");
  EXPECT_EQ((check<Vector, Vector, long, Vector>()), "");
  EXPECT_EQ(
      (check<void, Vector, Vector, Vector, Vector, Vector, Vector, Vector, Vector, long, Vector>()),
      "");
}

TEST(Forwarding, AnExceptionPassesThroughAndTheCallIsLeft) {
  using Method = Words6 (*)(void*, const char*, long, double);
  const auto forwarded = reinterpret_cast<Method>(
      forward_to(reinterpret_cast<Function>(original<Words6, long, double>),
                 types<Words6, long, double>(), nullptr));
  ASSERT_NE(forwarded, nullptr);
  look();
  asked = kThrow;
  try {
    forwarded(&asked, "selector", 1, 2);
    FAIL();
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "thrown by the original");
  }
  EXPECT_EQ(seen.left, 1);
  EXPECT_EQ(seen.thrown, 1);
}

Function inner;
long nested(void* self, const char* selector, long depth) {
  return depth == 0 ? 7 : 1 + reinterpret_cast<decltype(&nested)>(inner)(self, selector, depth - 1);
}

TEST(Forwarding, CallsNest) {
  inner = forward_to(reinterpret_cast<Function>(nested), types<long, long>(), nullptr);
  look();
  EXPECT_EQ(reinterpret_cast<decltype(&nested)>(inner)(nullptr, "selector", 50), 57);
  EXPECT_EQ(seen.entered, 51);
  EXPECT_EQ(seen.left, 51);
}

TEST(Encoding, WhatIsNotUnderstoodIsNotForwarded) {
  for (const char* broken : {"", "v16", "v16@0:8{", "v16@0:8{A=", "v16@0:8(", "v16@0:8[3",
                             "v16@0:8^", "v99999999999@0:8Q", "v16@0:8\"", "v16@0:8?", "\xff"}) {
    const bool legal = std::string(broken) == "v16";
    EXPECT_EQ(shape_of(broken).known, legal) << broken;
  }
  EXPECT_FALSE(shape_of("v16@0:8" + std::string(100000, '{')).known);
  EXPECT_FALSE(shape_of("v16@0:8" + std::string(100000, '^')).known);
}

TEST(Encoding, BlocksObjectsAndTheirNamesAreOnePointerEach) {
  const CallShape shape =
      shape_of("@40@0:8@?<v@?@\"<MTLCommandBuffer>\"@\"NSError\">16@\"NSString\"24r^{A=i}32");
  EXPECT_TRUE(shape.known);
  EXPECT_TRUE(shape.object_result);
  EXPECT_EQ(shape.stack_bytes, 0U);
}

}  // namespace
}  // namespace mpsprobe::observer
