#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// The name of a function as a title holds it: what differs from build to build, from chip to chip
/// and from one compiler to another is left out, what tells two functions apart stays.
///
///   void AGX::SpillInfoGen3<A, B>::allocateUSCSpillBuffer(bool) const + 32
///       AGX::SpillInfo::allocateUSCSpillBuffer
///   -[AGXG16XFamilyComputeContext setBuffer:offset:atIndex:]
///       -[AGXFamilyComputeContext setBuffer:offset:atIndex:]
///   void c10::function_ref<void (int)>::callback_fn<at::run(int)::{lambda(int)#2}>(long, int)
///       at::run
///   at::(anonymous namespace)::run(int)::{lambda(int)#2}::operator()(int) const [clone .cold]
///       at::run
///
/// Left out: arguments, template arguments, return types, ABI tags, clones, offsets, inline
/// namespaces of the standard library, anonymous namespaces, the names of lambdas and blocks (they
/// count as the function that they are written in, and so does what only calls one), Objective-C
/// categories, chip generations in the names of AGX. Operators keep their spelling.
///
/// Empty where `function` names none ("???", a bare address, a debugger's stand-in). One line of at
/// most 120 printable ASCII characters; applied twice it changes nothing more. Of the input the
/// first 4096 bytes are looked at. Takes demangled names. Never throws but for lack of memory.
std::string normalise_function(std::string_view function);

/// The file name of an image without folders, versions and chip generations: "libc.so.6" is
/// "libc.so", "AGXMetalG16X" and "AGXMetal13_3" are "AGXMetal". Printable ASCII, at most 80
/// characters; applied twice it changes nothing more.
std::string normalise_image(std::string_view image);

/// The name of a class, function or image of Apple's GPU driver without the generation of chip that
/// it was built for: "AGXG16XFamilyBuffer" is "AGXFamilyBuffer", "AGXMetal13_3" is "AGXMetal",
/// "AGX::SpillInfoGen3" is "AGX::SpillInfo", "AGX::HAL300" is "AGX::HAL". Text without "AGX" comes
/// back as it is. What it gives is a subsequence of the text. Linear in it.
std::string without_chip(std::string_view text);

}  // namespace mpsprobe
