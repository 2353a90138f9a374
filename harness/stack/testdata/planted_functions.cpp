// The source of planted_elf.so and planted_macho.dylib. The tests know the offsets in them: build
// them again only together with these. In this folder:
//   g++ -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=sha1 -Wl,-z,noseparate-code \
//     -ffile-prefix-map="$PWD"=. -o planted_elf.so planted_functions.cpp
//   zig c++ -target aarch64-macos.14.0 -O1 -g0 -shared -o planted_macho.dylib planted_functions.cpp
namespace planted {

int exported(int value) {
  return value * 3 + 1;
}

__attribute__((noinline)) static int hidden(int value) {
  return value * 7 - 5;
}

volatile int device = 0;

__attribute__((always_inline)) inline int encode(int value) {
  device = value;
  return value + device;
}

struct Device {
  int submit(int value);
};

int Device::submit(int value) {
  return hidden(value) + encode(value);
}

}  // namespace planted

extern "C" int planted_c_function(int value) {
  return value - 2;
}
