#include "known.hpp"

#include "../dispatch.hpp"

namespace ordsvm::search {
namespace {

template <class T>
ORDSVM_INLINE void gather_all(const T* row, const Index* places, Index count, T* out) {
#pragma omp simd
  for (Index q = 0; q < count; ++q) out[q] = row[places[q]];
}

ORDSVM_DISPATCH void gather_floats(const float* row, const Index* places, Index count, float* out) {
  gather_all(row, places, count, out);
}
ORDSVM_DISPATCH void gather_doubles(const double* row, const Index* places, Index count, double* out) {
  gather_all(row, places, count, out);
}

}  // namespace

void gather(const float* row, std::span<const Index> places, float* out) {
  gather_floats(row, places.data(), static_cast<Index>(places.size()), out);
}
void gather(const double* row, std::span<const Index> places, double* out) {
  gather_doubles(row, places.data(), static_cast<Index>(places.size()), out);
}

}  // namespace ordsvm::search
