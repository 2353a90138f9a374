// Kernels of the project's own: what a Mac compiles at run time (newLibraryWithSource), and what the simulated
// device executes, compiled as C++ (scenarios/sim/face/shading). So they keep to what both languages have. Each
// is dispatched with one thread for each element of `out`, in one dimension.
#include <metal_stdlib>
using namespace metal;

kernel void add_arrays(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                       device float* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = a[i] + b[i];
}

kernel void relu_array(device const float* a [[buffer(0)]], device float* out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  out[i] = max(a[i], 0.0f);
}

kernel void fill_array(device float* out [[buffer(0)]], constant float& value [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  out[i] = value;
}

kernel void axpy(device const float* x [[buffer(0)]], device const float* y [[buffer(1)]],
                 device float* out [[buffer(2)]], constant float& factor [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {
  out[i] = factor * x[i] + y[i];
}

kernel void sine(device const float* a [[buffer(0)]], device float* out [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  out[i] = sin(a[i]);
}

kernel void strided_copy(device const float* a [[buffer(0)]], device float* out [[buffer(1)]],
                         constant uint& stride [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = a[i * stride];
}
