// The kernels that the core computes, by name; their formulas are in kernels/formula.hpp.
#pragma once

namespace ordsvm {

enum class KernelKind { linear, rbf, polynomial, sigmoid, laplacian };

/// A kernel with its parameters, of which a kind uses those that its formula names.
struct Kernel {
  KernelKind kind = KernelKind::rbf;
  double gamma = 1.0;
  double coef0 = 0.0;
  double degree = 3.0;
};

}  // namespace ordsvm
