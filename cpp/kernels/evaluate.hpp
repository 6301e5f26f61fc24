// From reductions of two samples (dot products or distances) to the values of a kernel, in dispatched loops.
#pragma once

#include <span>

#include "kernels/kernel.hpp"

namespace ordsvm {

/// Turns reductions into kernel values, in place.
void evaluate(const Kernel& kernel, std::span<double> values);
void evaluate(const Kernel& kernel, std::span<float> values);

}  // namespace ordsvm
