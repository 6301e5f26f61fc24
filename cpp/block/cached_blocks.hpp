// K from rows of a source that tells nothing else: precomputed matrices, functions, long sparse rows.
#pragma once

#include <vector>

#include "../simd.hpp"
#include "blocks.hpp"

namespace ordsvm::block {

template <class T>
class CachedBlocks final : public Blocks<T> {
 public:
  explicit CachedBlocks(RowCache<T>& cache) : cache_(cache), rows_before_(cache.rows_computed()) {}

  bool add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                   const Ask& ask) override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (ask()) return false;
      simd::add_row(score.data(), weight[r], cache_.pin(rows[r]).data(), static_cast<Index>(score.size()));
    }
    return true;
  }

  bool gram(std::span<const Index> samples, T* out, Index stride, const Ask& ask) override {
    for (std::size_t p = 0; p < samples.size(); ++p) {
      if (ask()) return false;
      const auto row = cache_.pin(samples[p]);
      for (std::size_t q = 0; q < samples.size(); ++q) out[p * stride + q] = row.data()[samples[q]];
    }
    return true;
  }

  double values_computed() const override {
    return static_cast<double>(cache_.rows_computed() - rows_before_) * cache_.source().size();
  }

 private:
  RowCache<T>& cache_;
  Index rows_before_;
};

}  // namespace ordsvm::block
