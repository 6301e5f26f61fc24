// Newton's system by features: sums of a pass against the definitions, for all kinds of rows, threads and row blocks.
#include <cmath>

#include "check.hpp"
#include "linear/interior_point/feature_system.hpp"
#include "linear_data.hpp"

namespace ordsvm::linear {
namespace {

constexpr Index n_labels = 3;

/// Signs in no order, some hinges missing; weight vectors have a second hinge for one label each.
HingeColumns random_columns(ordsvm::Random& random, Index n_columns, bool thresholds) {
  HingeColumns table{n_labels, n_columns, thresholds ? 0 : n_columns, {}, {}, {}, {}, {}, {}};
  for (Index column = 0; column < n_columns; ++column)
    for (Index label = 0; label < n_labels; ++label) {
      const bool both = !thresholds && column % n_labels == label;
      table.sign.push_back(both || random.chance(0.5) ? 1.0 : -1.0);
      table.offset.push_back(random.uniform(-1.0, 1.0));
      table.cap.push_back(random.chance(0.8) || both ? random.uniform(0.2, 2.0) : 0.0);
      table.second_offset.push_back(both ? -table.offset.back() - 0.2 : 0.0);
      table.second_cap.push_back(both ? table.cap.back() : 0.0);
      table.second_place.push_back(both ? column : -1);
    }
  return table;
}

struct Case {
  LinearData data;
  HingeColumns table;
  SystemShape shape;

  Case(ordsvm::Random& random, bool thresholds, bool squared)
      : data(random, 300, 11, n_labels),
        table(random_columns(random, 4, thresholds)),
        shape{11, thresholds, !thresholds, squared} {}

  FeatureSystem system(int n_threads) const { return {table, {data.label, data.weight, {}}, shape, n_threads}; }
  Index n_vectors() const { return shape.has_thresholds ? 1 : 4; }

  /// Small weights, a small change, and the centre first.
  Direction direction(Move move) const {
    const Index length = shape.n_features + (shape.appends_one ? 1 : 0);
    Direction made;
    for (Index j = 0; j < n_vectors() * length; ++j) {
      made.weights.push_back(0.1 * std::sin(static_cast<double>(j)));
      made.change.push_back(move == Move::newton ? 0.05 * std::cos(static_cast<double>(j)) : 0.0);
    }
    made.thresholds = {-0.3, 0.1, 0.2, 0.4};
    made.threshold_change.assign(4, 0.01);
    made.steps.assign(n_vectors(), {1.0, 0.5, 0.5, move});
    return made;
  }
};

bool is_close(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0, furthest = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    largest = std::max(largest, std::fabs(a[j]));
    furthest = std::max(furthest, std::fabs(a[j] - b[j]));
  }
  return a.size() == b.size() && furthest <= 1e-9 * (1.0 + largest);
}

void run(FeatureSystem& system, const Case& test, const std::vector<std::pair<Rows, Index>>& blocks) {
  Monitor monitor([](Index, Index) { return false; });
  for (const Move move : {Move::centre, Move::newton}) {
    system.begin(test.direction(move));
    for (const auto& [rows, first] : blocks) CHECK(system.add(rows, first, monitor));
    for (Index vector = 0; vector < system.n_vectors(); ++vector) system.accept(vector);
  }
}

/// X'beta and the sums of beta, from beta alone, are those of the pass; beta is within its bounds.
void check_beta(const FeatureSystem& system, const Case& test) {
  const std::vector<double> beta = system.beta();
  for (Index vector = 0; vector < system.n_vectors(); ++vector) {
    const Index m = test.shape.has_thresholds ? 4 : 0, column = system.first_extra() + m;
    for (Index j = 0; j < test.data.d; ++j) {
      double expected = 0.0;
      for (Index i = 0; i < test.data.n; ++i)
        for (Index k = 0; k < 4; ++k)
          if (test.shape.has_thresholds || k == vector) expected += beta[i * 4 + k] * test.data.x[i * test.data.d + j];
      CHECK(std::fabs(expected - system.sums(vector).panel[j * system.width() + column]) <= 1e-9);
    }
  }
}

TEST(feature_system_kinds_of_rows_threads_and_row_blocks_agree) {
  for (const bool thresholds : {false, true})
    for (const bool squared : {false, true}) {
      ordsvm::Random random(7);
      const Case test(random, thresholds, squared);
      const check::Context context(std::string(thresholds ? "thresholds" : "lanes") + (squared ? ", squared" : ""));
      FeatureSystem expected = test.system(1);
      run(expected, test, {{test.data.kinds().front(), 0}});
      check_beta(expected, test);
      const auto agrees = [&](int n_threads, const std::vector<std::pair<Rows, Index>>& blocks) {
        FeatureSystem other = test.system(n_threads);
        run(other, test, blocks);
        CHECK(is_close(expected.beta(), other.beta()));
        CHECK(other.reads() == 2 * test.data.n);
        for (Index vector = 0; vector < other.n_vectors(); ++vector) {
          CHECK(is_close(expected.sums(vector).panel, other.sums(vector).panel));
          CHECK(is_close(expected.sums(vector).columns, other.sums(vector).columns));
        }
      };
      for (const Rows& rows : test.data.kinds()) agrees(3, {{rows, 0}});
      agrees(1, {{test.data.part(0, 97), 0}, {test.data.part(97, 203), 97}});
    }
}

}  // namespace
}  // namespace ordsvm::linear
