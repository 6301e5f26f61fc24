// Fits with all of K in memory: its values, answers by the definitions, and looks that change nothing.
#include "check.hpp"
#include "solve.hpp"
#include "solvers/full_kernel/solve.hpp"

namespace ordsvm {
namespace {

using full_kernel::FullKernel;

/// Takes every look that it can.
class Everything : public full_kernel::Looks {
 public:
  bool due() override { return true; }
  void take(const full_kernel::Look& look) override { taken.push_back(look); }

  std::vector<full_kernel::Look> taken;
};

/// Samples and all of their kernel.
struct Whole {
  Random random;
  Data data;
  Space space;
  ThreadPool pool{2};
  FullKernel kernel;

  Whole(std::uint64_t seed, Index n, Index n_ranks)
      : random(seed), data(random, n, 2, n_ranks, 1.0), space(rbf, data), kernel(*space.rows, pool) {}
};

struct Solved {
  full_kernel::Fit fit;
  Fit state;
};

Solved solve(const FullKernel& kernel, const HingeTable& table, double tol, full_kernel::Looks* looks = nullptr,
             const full_kernel::HandOver& hand_over = {}) {
  Solved solved{{}, Fit::zero(table)};
  solved.state.score.resize(kernel.stride());
  const Hinges hinges = table.hinges();
  Monitor monitor(go_on);
  solved.fit = full_kernel::Solver(kernel, hinges, solved.state.variables(), tol, hand_over, monitor, looks).run();
  solved.state.score.resize(table.n_samples);
  return solved;
}

std::vector<HingeTable> tables(const Data& data) {
  return {implicit_table(data, Treatment::none, 2.0), implicit_table(data, Treatment::penalized, 2.0),
          implicit_table(data, Treatment::free, 2.0), explicit_table(data, Treatment::ordered, 2.0),
          regression_table(data, Treatment::free, 2.0)};
}

TEST(all_values_are_those_of_the_kernel_and_rows_are_padded_by_zeros) {
  const Whole whole(71, 530, 4);  // whose matrix has pages of its own
  CHECK(whole.kernel.size() == whole.data.n && whole.kernel.stride() >= whole.data.n && whole.kernel.largest() == 1.0);
  for (Index i = 0; i < whole.data.n; ++i) {
    for (Index j = 0; j < whole.data.n; ++j) {
      CHECK(std::abs(whole.kernel.row(i)[j] - whole.space.matrix[i * whole.data.n + j]) < 1e-12);
      CHECK(whole.kernel.row_as(i, float())[j] == static_cast<float>(whole.kernel.row(i)[j]));
    }
    for (Index j = whole.data.n; j < whole.kernel.stride(); ++j) CHECK(whole.kernel.row(i)[j] == 0.0);
  }
}

TEST(answers_with_all_of_the_kernel_are_optima) {
  const Whole whole(72, 200, 4);
  for (const HingeTable& table : tables(whole.data))
    for (const double tol : {1e-3, 1e-8}) {
      const check::Context here(name(table.treatment));
      const Solved solved = solve(whole.kernel, table, tol);
      CHECK(solved.fit.converged && !solved.fit.hands_over && solved.fit.violation <= tol);
      check_state(table, whole.space, solved.state, 1e-9);
      const plain::Point point(table, whole.space.matrix, solved.state.alpha);
      CHECK(point.violation() <= tol + 1e-9);
      if (table.treatment != Treatment::ordered) CHECK(solved.fit.proof.relative_gap() <= tol);
    }
}

TEST(looks_prove_bounds_and_change_nothing) {
  const Whole whole(73, 200, 4);
  const HingeTable table = implicit_table(whole.data, Treatment::penalized, 2.0);
  Everything looks;
  const Solved watched = solve(whole.kernel, table, 1e-3, &looks), alone = solve(whole.kernel, table, 1e-3);
  CHECK(same(watched.state, alone.state) && watched.fit.steps == alone.fit.steps);
  CHECK(!looks.taken.empty());
  for (const full_kernel::Look& look : looks.taken) {
    CHECK(look.proof.dual <= alone.fit.proof.primal && look.proof.primal >= alone.fit.proof.dual);
    CHECK(look.steps <= alone.fit.steps && look.thresholds.size() == static_cast<std::size_t>(table.n_thresholds));
  }
}

TEST(steps_hand_over_where_newtons_method_is_expected_to_end_sooner) {
  const Whole whole(74, 300, 3);
  const HingeTable table = implicit_table(whole.data, Treatment::free, 1000.0);
  const Solved solved = solve(whole.kernel, table, 1e-5, nullptr, {.newton_start = 10.0});
  CHECK(solved.fit.hands_over && !solved.fit.converged);
  check_state(table, whole.space, solved.state, 1e-6);
  const Solved complete = solve(whole.kernel, table, 1e-5);
  CHECK(complete.fit.converged && complete.fit.steps > solved.fit.steps);
}

TEST(steps_leave_off_when_patience_ends_and_go_on_from_there) {
  const Whole whole(75, 300, 4);
  const HingeTable table = implicit_table(whole.data, Treatment::penalized, 50.0);
  const Solved all = solve(whole.kernel, table, 1e-6);
  CHECK(all.fit.converged && all.fit.steps > 2000);
  const Solved part = solve(whole.kernel, table, 1e-6, nullptr, {.patience = 1000});
  CHECK(part.fit.hands_over && !part.fit.converged && part.fit.violation > 1e-6);
  CHECK(part.fit.steps >= 1000 && part.fit.steps < all.fit.steps);
}

}  // namespace
}  // namespace ordsvm
