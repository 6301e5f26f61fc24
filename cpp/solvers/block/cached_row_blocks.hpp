// K from whole rows, for sources without tiles: precomputed matrices, callable kernels, long sparse rows.
//
// Rows are made many at a time and by all threads; those of a callable kernel a few at a time, which is cheaper than
// one by one.
#pragma once

#include "kernels/many_rows.hpp"
#include "solvers/block/kept_rows.hpp"
#include "solvers/block/row_blocks.hpp"

namespace ordsvm::block {

template <class T>
class CachedRowBlocks final : public RowBlocks<T> {
 public:
  CachedRowBlocks(RowCache<T>& cache, ThreadPool& pool)
      : source_(cache.source()), pool_(pool), kept_(cache, pool), n_(cache.source().size()) {}

  bool add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                   const StopCheck& stop_check) override {
    if (!store(rows, stop_check)) return false;
    kept_.add(rows, weight, score);
    const auto others = kept_.others(rows);
    return make(others.rows, stop_check, [&](std::size_t r, const double* row) {
      simd::add_row(score.data(), weight[others.places[r]], row, n_);
    });
  }

  bool gram(std::span<const Index> samples, T* out, Index stride, const StopCheck& stop_check) override {
    if (!store(samples, stop_check)) return false;
    kept_.gather(samples, out, stride);
    const auto others = kept_.others(samples);
    return make(others.rows, stop_check, [&](std::size_t r, const double* row) {
      T* to = out + others.places[r] * stride;
      for (std::size_t q = 0; q < samples.size(); ++q) to[q] = static_cast<T>(row[samples[q]]);
    });
  }

  double values_computed() const override { return values_computed_; }

 private:
  bool store(std::span<const Index> rows, const StopCheck& stop_check) {
    const std::vector<Index> wanted = kept_.wanted_most(rows);
    return make(wanted, stop_check, [&](std::size_t r, const double* row) {
      std::unique_ptr<T[]> kept(new T[n_]);
      std::transform(row, row + n_, kept.get(), [](double x) { return static_cast<T>(x); });
      kept_.keep(wanted[r], std::move(kept));
    });
  }

  /// use(r, K[rows[r]]) for every row.
  template <class Use>
  bool make(std::span<const Index> rows, const StopCheck& stop_check, const Use& use) {
    constexpr Index part_bytes = 1 << 22, few = 32;
    const Index many =
        std::clamp<Index>(part_bytes / static_cast<Index>(sizeof(double) * n_), std::min(pool_.size(), 256), 256);
    const std::size_t part = source_.is_callable() ? few : many;
    std::vector<double> values(std::min(part, rows.size()) * n_);
    for (std::size_t begin = 0; begin < rows.size(); begin += part) {
      if (stop_check()) return false;
      const auto some = rows.subspan(begin, std::min(part, rows.size() - begin));
      many_rows(source_, some, values, pool_);
      for (std::size_t r = 0; r < some.size(); ++r) use(begin + r, values.data() + r * n_);
      values_computed_ += static_cast<double>(some.size()) * n_;
    }
    return true;
  }

  const RowSource& source_;
  ThreadPool& pool_;
  KeptRows<T> kept_;
  Index n_;
  double values_computed_ = 0.0;
};

}  // namespace ordsvm::block
