#include "linear/machine.hpp"

#include "linear/exact_rows.hpp"

namespace ordsvm::linear {
/// each(add) calls add(row, sample) for every row that is to enter the weights.
template <class Each>
void Machine::build_rows(const Rows& rows, const Each& each) {
  std::vector<double> beta(n_columns_ + widest, 0.0);
  std::visit(
      [&](const auto& view) {
        each([&](Index i, Index sample) {
          get_beta(sample, beta.data());
          for (Index c = 0; c < n_columns_; ++c) total_[c] += beta[c];
          const bool moves = std::any_of(beta.begin(), beta.end(), [](double value) { return value != 0.0; });
          if (moves) add_exact(view, i, beta.data(), exact_.data(), n_columns_);
        });
      },
      rows);
}

void Machine::build(const Rows& rows, Index first) {
  if (is_built_) return;
  build_rows(rows, [&](const auto& add) {
    for (Index i = 0; i < count(rows); ++i) add(i, first + i);
  });
}

/// Of row blocks of the order.
void Machine::build(const Rows& rows, Place place, Index from, Index to) {
  build_rows(rows, [&](const auto& add) {
    for (Index block = from; block < to; ++block)
      for (Index i = order().first(block); i < order().last(block); ++i) add(i, place.sample(i));
  });
}

void Machine::score(const Rows& rows, Index first, int n_threads, Monitor& monitor) {
  std::atomic<bool> stop = false;
  std::vector<Sums> sums(n_threads);
  const auto work = [&](int t) {
    std::vector<double> product(n_columns_ + widest);
    std::visit(
        [&](const auto& view) {
          for (Index i = view.n_rows * t / n_threads; i < view.n_rows * (t + 1) / n_threads && !stop; ++i) {
            dot_exact(view, i, product.data(), exact_.data(), n_columns_);
            add_proof(first + i, product.data(), sums[t]);
          }
        },
        rows);
  };
  if (n_threads == 1)
    work(0);
  else
    run_team(n_threads, stop, work, [&] { return monitor.stop_now(0, 0); });
  for (const Sums& part : sums) proof_.add(part);
}

}  // namespace ordsvm::linear
