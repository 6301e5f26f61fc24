// Rows as linear machines read them: products, norms, and the order in which they are visited.
#include <algorithm>

#include "check.hpp"
#include "linear/gather.hpp"
#include "linear_machines.hpp"

namespace ordsvm::linear {
namespace {

TEST(linear_products_by_gathers_are_those_by_loads) {
  ordsvm::Random random(19);
  Numbers weights(50), values(60);
  for (double& weight : weights) weight = random.quantized();
  for (double& value : values) value = random.quantized();
  std::vector<std::int32_t> columns(values.size());
  for (auto& column : columns) column = static_cast<std::int32_t>(random.index(50));
  const std::vector<float> few(weights.begin(), weights.end()), floats(values.begin(), values.end());
  for (Index size = 0; size <= 60; ++size) {
    const SparseRow<double, std::int32_t> row{values.data(), columns.data(), size};
    const SparseRow<float, std::int32_t> narrow{floats.data(), columns.data(), size};
    double expected = 0.0;
    for (Index p = 0; p < size; ++p) expected += values[p] * weights[columns[p]];
    CHECK(near(product(row, weights.data()), expected, 1e-13));
    CHECK(near(product(narrow, weights.data()), expected, 1e-6));
    CHECK(near(product(row, few.data()), expected, 1e-5));
    CHECK(near(product(narrow, few.data()), expected, 1e-5));
  }
}

TEST(linear_orders_hold_every_row_once) {
  Order order(3);
  for (const Index n : {1, 7, 8, 9, 1000}) {
    std::vector<int> visits(n, 0);
    order.shuffle(n);
    for (Index p = 0; p < order.n_row_blocks(); ++p)
      for (Index i = order.first(p); i < order.last(p); ++i) ++visits[i];
    CHECK(std::all_of(visits.begin(), visits.end(), [](int count) { return count == 1; }));
  }
}

TEST(linear_norms_of_columns_that_come_twice) {
  ordsvm::Random random(15);
  const LinearData data(random, 50, 6, n_labels);
  for (const Rows& rows : data.kinds())
    for (const int n_threads : {1, 3}) {
      std::vector<float> norms(data.n);
      squared_norms(rows, norms.data(), n_threads);
      CHECK(norms == data.norm);
    }
}

}  // namespace
}  // namespace ordsvm::linear
