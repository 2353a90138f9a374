#pragma once

#include <array>
#include <memory>
#include <vector>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/objects.h"
#include "scenarios/sim/face/shading/shader.h"

// Kernels of a program's own behind Metal's protocols.

@interface SimulatedLibrary : NSObject <MTLLibrary> {
 @public
  std::vector<mpsprobe::sim::face::ShaderFunction>* functions_;
  NSString* source_;  // nil: its functions are known
}
- (id)initWithMoreOf:(NSString*)source;
- (id)initWithSource:(NSString*)source;
@end

@interface SimulatedFunction : NSObject <MTLFunction> {
 @public
  const mpsprobe::sim::face::Shader* shader_;
  mpsprobe::sim::face::ShaderFunction* function_;
}
- (id)initWithFunction:(const mpsprobe::sim::face::ShaderFunction&)function;
@end

@interface SimulatedPipeline : NSObject <MTLComputePipelineState> {
 @public
  SimulatedFunction* function_;
}
- (id)initWithFunction:(SimulatedFunction*)function;
@end

namespace mpsprobe::sim::face {

/// Kernels besides those of kernels.metal: the one of that name in a library of this text, or
/// nullptr. A library whose text is not known here, or that has none, asks it for each function.
using FindShader = const Shader* (*)(std::string_view name, std::string_view source);
void find_more_shaders(FindShader find);

/// What the next dispatch of an encoder takes.
struct DispatchState {
  /// A buffer from an offset on, or bytes of the encoder's own.
  struct Binding {
    Owned<id<MTLBuffer>> buffer;
    size_t offset = 0;
    std::shared_ptr<std::vector<char>> bytes;

    char* data() const {
      if (bytes) return bytes->data();
      return buffer ? static_cast<char*>([buffer.get() contents]) + offset : nullptr;
    }
  };

  Owned<SimulatedPipeline*> pipeline;
  std::array<Binding, 31> bindings;  // as many as Metal has
};

}  // namespace mpsprobe::sim::face
