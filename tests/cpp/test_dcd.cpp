// DCD-1 and DCD-2: threads and pauses change nothing, dense and sparse data agree, empty rows do no harm.
#include <cmath>

#include "check.hpp"
#include "linear/dcd1.hpp"
#include "linear/dcd2.hpp"
#include "random.hpp"

namespace ordsvm::linear {
namespace {

constexpr Index forever = std::numeric_limits<Index>::max();
constexpr SampleIndex n_labels = 3;

/// RankSamples in three ranks; every fifth has no features.
struct Data {
  Index n, d;
  std::vector<double> x, values, weight;
  std::vector<std::int32_t> columns, starts = {0};
  std::vector<SampleIndex> label;

  Data(ordsvm::Random& random, Index n, Index d) : n(n), d(d), x(n * d, 0.0), weight(random.uniforms(n, 0.5, 2.0)) {
    for (Index i = 0; i < n; ++i) {
      label.push_back(static_cast<SampleIndex>(random.index(n_labels)));
      for (Index j = 0; j < d && i % 5 != 0; ++j)
        if (random.chance(0.5)) set(i, j, random.uniform(-1.0, 1.0) + 0.3 * label.back());
      starts.push_back(static_cast<std::int32_t>(values.size()));
    }
  }
  void set(Index i, Index j, double value) {
    x[i * d + j] = value;
    for (const double part : {0.25, 0.75}) {  // features come twice
      values.push_back(part * value);
      columns.push_back(static_cast<std::int32_t>(j));
    }
  }
  DenseView<double> dense() const { return {x.data(), n, d}; }
  CsrView<double, std::int32_t> csr() const { return {values.data(), columns.data(), starts.data(), n, d}; }
};

std::vector<RankProblem> problems() {
  std::vector<RankProblem> all;
  for (SampleIndex rank = 0; rank < n_labels; ++rank) all.push_back({rank, 1.0, 0.5, 0.1});
  return all;
}

template <template <class> class Dcd, class View>
Ranks<Dcd, BiasedRows<View>> make(const Data& data, const View& view, bool bias = true) {
  const DcdOptions options{.permute = true, .shrink = true, .seed = 5};
  return {RankSamples(BiasedRows(view, bias), data.label, data.weight), problems(), options};
}

Monitor unwatched() {
  return Monitor([](Index, Index) { return false; });
}

template <template <class> class Dcd>
void check_threads_and_data() {
  ordsvm::Random random(1);
  const Data data(random, 700, 8);
  for (const bool bias : {true, false}) {
    auto one = make<Dcd>(data, data.dense(), bias), three = make<Dcd>(data, data.dense(), bias);
    auto sparse = make<Dcd>(data, data.csr(), bias);
    Monitor monitor = unwatched();
    CHECK(one.run(1e-2, forever, 1, monitor));
    CHECK(three.run(1e-2, forever, 3, monitor));
    CHECK(sparse.run(1e-2, forever, 2, monitor));
    CHECK(one.beta() == three.beta());
    CHECK(one.epochs() == three.epochs() && one.epochs() == sparse.epochs());
    const std::vector<double> beta = one.beta(), other = sparse.beta();
    for (std::size_t v = 0; v < beta.size(); ++v) CHECK(std::isfinite(beta[v]) && std::abs(beta[v] - other[v]) < 1e-9);
    one.refresh();
    one.run(0.0, one.epochs() + 5, 1, monitor);
    three.run(0.0, three.epochs() + 5, 1, monitor);
    const std::vector<double> refreshed = one.beta(), unrefreshed = three.beta();
    for (std::size_t v = 0; v < beta.size(); ++v) CHECK(std::abs(refreshed[v] - unrefreshed[v]) < 1e-9);
  }
}

/// A machine that is paused again and again ends where one does that never was.
template <template <class> class Dcd>
void check_pauses() {
  ordsvm::Random random(2);
  const Data data(random, 3000, 400);  // epochs long enough for a pause in their midst
  auto calm = make<Dcd>(data, data.dense()), paused = make<Dcd>(data, data.dense());
  Monitor monitor = unwatched();
  calm.run(0.0, 12, 1, monitor);
  Index pauses = 0;
  for (bool ended = false; !ended;) {
    Monitor pausing([](Index, Index) { return true; });
    pausing.report_every(1);
    paused.run(0.0, 12, 2, pausing);
    ended = !pausing.stopped();
    pauses += pausing.stopped();
  }
  CHECK(pauses > 0);
  CHECK(calm.beta() == paused.beta());
  CHECK(calm.epochs() == 12 && paused.epochs() == 12);
}

}  // namespace

TEST(dcd1_threads_and_data) { check_threads_and_data<Dcd1>(); }
TEST(dcd2_threads_and_data) { check_threads_and_data<Dcd2>(); }
TEST(dcd1_pauses) { check_pauses<Dcd1>(); }
TEST(dcd2_pauses) { check_pauses<Dcd2>(); }

}  // namespace ordsvm::linear
