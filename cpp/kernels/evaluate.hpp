// From reductions of two samples (dot products or distances) to the values of a kernel.
#pragma once

#include <span>

#include "kernels/row_source.hpp"
#include "simd/loops.hpp"

namespace ordsvm {

/// What a kernel is a function of.
constexpr simd::Reduction reduction_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::rbf:
      return simd::Reduction::squared_distance;
    case KernelKind::laplacian:
      return simd::Reduction::manhattan;
    default:
      return simd::Reduction::dot;
  }
}

/// Turns reductions into kernel values, in place.
void evaluate(const Kernel& kernel, std::span<double> values);
void evaluate(const Kernel& kernel, std::span<float> values);

}  // namespace ordsvm
