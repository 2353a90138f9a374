#pragma once

#include <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
