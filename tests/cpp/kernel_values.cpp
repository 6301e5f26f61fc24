// Values of one kernel by every path of the core, for tests/test_add_a_kernel.py.
//
// Compiled with -DKIND=name -DGAMMA=number. Reads n, d and n * d doubles from standard input; writes lines
// "path i j value" to standard output.
#include <cstdio>
#include <vector>

#include "kernels/row_source.hpp"
#include "kernels/tiles/part.hpp"
#include "kernels/tiles/product.hpp"
#include "kernels/tiles/samples.hpp"
#include "prediction/scores.hpp"

namespace ordsvm {
namespace {

const Kernel kernel{KernelKind::KIND, GAMMA, 0.5, 2.0};

void print(const char* path, const char* data, const std::vector<double>& values, Index n) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) std::printf("%s-%s %d %d %.17g\n", path, data, int(i), int(j), values[i * n + j]);
}

template <class U>
std::vector<double> by_rows(const RowSource& rows) {
  const Index n = rows.size();
  std::vector<double> all;
  std::vector<U> row(n);
  for (Index i = 0; i < n; ++i) {
    rows.row(i, std::span<U>(row));
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

/// Tiles of all samples in float.
std::vector<double> by_float_tiles(const RowSource& rows, ThreadPool& pool) {
  const Index n = rows.size();
  const tiles::TiledSamples<float> samples(rows, pool, false);
  std::vector<Index> all(n);
  for (Index i = 0; i < n; ++i) all[i] = i;
  const auto packed = samples.pack(all);
  auto scratch = samples.scratch();
  std::vector<double> out(n * n);
  std::vector<float> values(n * tiles::lanes<float>);
  for (Index t = 0; t < samples.n_tiles(); ++t) {
    tiles::fill_values(kernel, samples.tile(t, scratch), packed, 0, n, values.data(), tiles::lanes<float>);
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < tiles::lanes<float> && t * tiles::lanes<float> + l < n; ++l)
        out[i * n + t * tiles::lanes<float> + l] = values[i * tiles::lanes<float> + l];
  }
  return out;
}

/// Tiles in double, as a part of K and as columns of a product.
std::vector<double> by_part(const RowSource& rows, ThreadPool& pool) {
  const Index n = rows.size();
  std::vector<Index> all(n);
  for (Index i = 0; i < n; ++i) all[i] = i;
  std::vector<double> out(n * n);
  tiles::fill_part(rows, all, all, out, pool);
  return out;
}

std::vector<double> by_products(const RowSource& rows) {
  const Index n = rows.size();
  Monitor monitor([](Index, Index) { return false; });
  std::vector<double> out;
  for (Index i = 0; i < n; ++i) {
    std::vector<double> beta(n, 0.0), column(n);
    beta[i] = 1.0;
    product(rows, beta, column, monitor, 0, 0);
    out.insert(out.end(), column.begin(), column.end());
  }
  return out;
}

template <class View>
std::vector<double> by_prediction(const View& data) {
  const Index n = data.n_rows;
  std::vector<double> identity(n * n, 0.0), out(n * n);
  for (Index i = 0; i < n; ++i) identity[i * n + i] = 1.0;
  prediction::scores(kernel, data, data, {identity, n}, out, 1, [] { return false; });
  return out;
}

template <class View>
void all_paths(const char* data, const View& view) {
  ThreadPool pool(1);
  const auto rows = make_rows(kernel, view);
  const Index n = rows->size();
  print("rows-double", data, by_rows<double>(*rows), n);
  print("rows-float", data, by_rows<float>(*rows), n);
  print("tiles-float", data, by_float_tiles(*rows, pool), n);
  print("tiles-double", data, by_part(*rows, pool), n);
  print("product", data, by_products(*rows), n);
  print("prediction", data, by_prediction(view), n);
}

template <class T>
void both_layouts(const char* dense, const char* sparse, const std::vector<double>& x, Index n, Index d) {
  const std::vector<T> values(x.begin(), x.end());
  all_paths(dense, DenseView<T>{values.data(), n, d});
  std::vector<T> nonzeros;
  std::vector<std::int32_t> columns, starts = {0};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j)
      if (values[i * d + j] != T(0)) nonzeros.push_back(values[i * d + j]), columns.push_back(static_cast<int>(j));
    starts.push_back(static_cast<std::int32_t>(nonzeros.size()));
  }
  all_paths(sparse, CsrView<T, std::int32_t>{nonzeros.data(), columns.data(), starts.data(), n, d});
}

}  // namespace
}  // namespace ordsvm

int main() {
  long n = 0, d = 0;
  if (std::scanf("%ld %ld", &n, &d) != 2) return 1;
  std::vector<double> x(n * d);
  for (double& value : x)
    if (std::scanf("%lf", &value) != 1) return 1;
  ordsvm::both_layouts<double>("dense64", "csr64", x, n, d);
  ordsvm::both_layouts<float>("dense32", "csr32", x, n, d);
}
