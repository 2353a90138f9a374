#pragma once

namespace mpsprobe {

/// The systems that differ in what mpsprobe asks of them. A rule that is another on macOS takes the
/// system as an argument and is compiled everywhere, so that each system's rule is tested on all;
/// what only Apple's headers allow stays behind __APPLE__ and is kept thin.
enum class System : unsigned char { macos, other };

#ifdef __APPLE__
inline constexpr System kSystem = System::macos;
#else
inline constexpr System kSystem = System::other;
#endif

}  // namespace mpsprobe
