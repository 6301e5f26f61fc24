// Rows of K that are kept within the capacity of a cache, and products with them by all threads.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/row_cache.hpp"
#include "parallel/thread_pool.hpp"
#include "simd/loops.hpp"

namespace ordsvm::block {

template <class T>
class KeptRows {
 public:
  KeptRows(RowCache<T>& cache, ThreadPool& pool) : cache_(cache), pool_(pool), n_(cache.source().size()) {}

  /// Rows that are not in the cache, with their places in the argument.
  struct Others {
    std::vector<Index> rows, places;
  };

  Others others(std::span<const Index> rows) const {
    Others others;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (cache_.find(rows[r]) == nullptr) {
        others.rows.push_back(rows[r]);
        others.places.push_back(static_cast<Index>(r));
      }
    return others;
  }

  /// Those of them that fit into the cache beside all rows in it, in the order of the argument.
  std::vector<Index> wanted(std::span<const Index> rows) const {
    std::vector<Index> missing = others(rows).rows;
    missing.resize(std::min(missing.size(), cache_.capacity() - std::min(cache_.capacity(), cache_.size())));
    return missing;
  }

  /// Those of them that fit into the cache if the least recently used rows are evicted.
  std::vector<Index> wanted_most(std::span<const Index> rows) {
    for (const Index i : rows)
      if (cache_.find(i) != nullptr) cache_.touch(i);
    std::vector<Index> missing = others(rows).rows;
    const std::size_t there = rows.size() - missing.size();
    missing.resize(std::min(missing.size(), cache_.capacity() - std::min(cache_.capacity(), there)));
    return missing;
  }

  void keep(Index i, std::unique_ptr<T[]> row) { cache_.add(i, std::move(row)); }

  /// to[r][j] = K[rows[r], j] for all samples j whose rows are there, K being symmetric; returns the other samples.
  /// `rows` ascend, so that what is read lies in the order of memory.
  std::vector<Index> mirror(std::span<const Index> rows, std::span<const std::unique_ptr<T[]>> to) const {
    constexpr Index width = 64;         // columns: a few whole lines of memory are written at a time
    constexpr std::size_t chunk = 256;  // rows: what is read for them stays in the second-level cache
    const int n_tasks = 4 * pool_.n_tasks();
    pool_.run(n_tasks, [&](int task, int) {
      const Share share((n_ + width - 1) / width, task, n_tasks);
      for (Index c = share.begin; c < share.end; ++c) {
        std::vector<std::pair<Index, const T*>> there;
        for (Index j = c * width; j < std::min(n_, (c + 1) * width); ++j)
          if (const T* row = cache_.find(j)) there.emplace_back(j, row);
        if (there.empty()) continue;
        for (std::size_t begin = 0; begin < rows.size(); begin += chunk) {
          const std::size_t end = std::min(begin + chunk, rows.size());
          for (const auto& [j, row] : there)
            for (Index at = rows[begin]; at <= rows[end - 1]; at += 64 / sizeof(T)) __builtin_prefetch(row + at);
          for (std::size_t r = begin; r < end; ++r) {
            T* const out = to[r].get();
            for (const auto& [j, row] : there) out[j] = row[rows[r]];
          }
        }
      }
    });
    std::vector<Index> others;
    for (Index j = 0; j < n_; ++j)
      if (cache_.find(j) == nullptr) others.push_back(j);
    return others;
  }

  /// score += weight @ K[rows] for rows that are there, so many samples at a time that their scores stay in the
  /// first-level cache.
  void add(std::span<const Index> rows, std::span<const double> weight, std::span<double> score) const {
    constexpr Index chunk = 1024;
    std::vector<const T*> there;
    for (const Index i : rows) there.push_back(cache_.find(i));
    const int n_tasks = pool_.n_tasks();
    pool_.run(n_tasks, [&](int task, int) {
      const Share share((n_ + chunk - 1) / chunk, task, n_tasks);
      for (Index c = share.begin; c < share.end; ++c)
        for (std::size_t r = 0; r < there.size(); ++r)
          if (there[r] != nullptr)
            simd::add_row(score.data() + c * chunk, weight[r], there[r] + c * chunk, std::min(chunk, n_ - c * chunk));
    });
  }

  /// out[p * stride + q] = K[samples[p], samples[q]] for rows that are there.
  void gather(std::span<const Index> samples, T* out, Index stride) const {
    const int n_tasks = pool_.n_tasks();
    pool_.run(n_tasks, [&](int task, int) {
      const Share share(samples.size(), task, n_tasks);
      for (Index p = share.begin; p < share.end; ++p)
        if (const T* from = cache_.find(samples[p]))
          for (std::size_t q = 0; q < samples.size(); ++q) out[p * stride + q] = from[samples[q]];
    });
  }

 private:
  RowCache<T>& cache_;
  ThreadPool& pool_;
  Index n_;
};

}  // namespace ordsvm::block
