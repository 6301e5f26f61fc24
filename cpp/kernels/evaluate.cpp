#include "kernels/evaluate.hpp"

#include "kernels/formula.hpp"

namespace ordsvm {
namespace {

template <class T>
ORDSVM_INLINE void evaluate_all(const Kernel& kernel, std::span<T> values) {
  const Parameters<T> parameters(kernel);
  with_formula(kernel.kind, [&]<class F>() __attribute__((always_inline)) {
#pragma omp simd
    for (std::size_t j = 0; j < values.size(); ++j) F::template value<LoopMath<T>>(&values[j], parameters);
  });
}

}  // namespace

ORDSVM_DISPATCH(void, evaluate, (const Kernel& kernel, std::span<double> values), (kernel, values)) {
  evaluate_all(kernel, values);
}
ORDSVM_DISPATCH(void, evaluate, (const Kernel& kernel, std::span<float> values), (kernel, values)) {
  evaluate_all(kernel, values);
}

}  // namespace ordsvm
