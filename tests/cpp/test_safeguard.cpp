// The safeguard of AsyGCD and AsyAGCD: its decisions, and a simulation in lockstep in which they matter.
#include "check.hpp"
#include "odd_rows.hpp"
#include "teams.hpp"

namespace ordsvm {
namespace {

using Verdict = Safeguard::Verdict;

TEST(fewer_owners_where_the_objective_falls_by_less_than_predicted) {
  Safeguard safeguard(24, 100);
  CHECK(safeguard.judge(1.0, 0.9) == Verdict::go_on && safeguard.n_owners() == 24);
  CHECK(safeguard.judge(1.0, 0.01) == Verdict::fewer && safeguard.n_owners() == 12);
  CHECK(safeguard.judge(1.0, -0.5) == Verdict::back && safeguard.n_owners() == 6);
  CHECK(safeguard.judge(1.0, 0.0) == Verdict::fewer && safeguard.n_owners() == 3);
  CHECK(safeguard.judge(1.0, -1.0) == Verdict::back && safeguard.n_owners() == 2);
  CHECK(safeguard.judge(1.0, -1.0) == Verdict::back && safeguard.n_owners() == 1);
  CHECK(safeguard.judge(1.0, -1.0) == Verdict::go_on && safeguard.n_owners() == 1);  // rounding: none are fewer
}

TEST(windows_double_while_all_goes_well) {
  Safeguard safeguard(4, 5000);
  const Index first = safeguard.window();
  CHECK(first >= 5000);
  safeguard.judge(1.0, 1.0);
  safeguard.judge(1.0, 1.0);
  CHECK(safeguard.window() == 4 * first);
  safeguard.judge(1.0, 0.0);
  CHECK(safeguard.window() == first);
  safeguard.judge(1.0, 0.0);
  CHECK(safeguard.window() > many_steps && safeguard.n_owners() == 1);  // one owner needs no meetings
}

/// AsyGCD in lockstep: all owners choose by the same scores, and all step at once.
class Lockstep {
 public:
  Lockstep(const HingeTable& table, const Space& space, int n_owners, bool guarded)
      : table_(table), space_(space), guard_(n_owners, table.n_samples), guarded_(guarded), alpha_(table.size(), 0.0) {}

  /// Whether it finds the optimum before so many steps are taken.
  bool converges(double tol, Index max_steps) {
    std::vector<double> met = alpha_;
    double predicted = 0.0;
    for (Index end = guard_.window(); steps < max_steps;) {
      const plain::Point point(table_, space_.matrix, alpha_);
      if (point.violation() <= tol) return true;
      predicted += step_at_once(point, tol);
      if (!guarded_ || steps < end) continue;
      const double fallen = dual_of(alpha_) - dual_of(met);
      const Verdict verdict = guard_.judge(predicted, fallen);
      if (verdict == Verdict::back) alpha_ = met;
      CHECK(dual_of(alpha_) >= dual_of(met));  // it never rises from one meeting to the next
      met = alpha_;
      predicted = 0.0;
      end = guard_.n_owners() > 1 ? steps + guard_.window() : max_steps;
    }
    return false;
  }

  int n_owners() const { return guard_.n_owners(); }
  Index steps = 0;

 private:
  double dual_of(const std::vector<double>& alpha) const { return plain::Point(table_, space_.matrix, alpha).dual(); }

  /// The hinge of every owner with the longest projected step (9) goes to its minimum; what each gains alone, added up.
  double step_at_once(const plain::Point& point, double tol) {
    double predicted = 0.0;
    const std::vector<double> b = point.thresholds();
    for (int t = 0; t < guard_.n_owners(); ++t) {
      Index chosen = -1;
      double longest = 0.0, chosen_slope = 0.0;
      for (Index v = 0; v < table_.size(); ++v) {
        const Index i = table_.sample[v];
        if (i * guard_.n_owners() / table_.n_samples != t) continue;
        const double slope = table_.sign[v] * (point.score()[i] - b[table_.threshold[v]]) - table_.offset[v];
        const double length = std::abs(std::clamp(alpha_[v] - slope, 0.0, table_.cap[v]) - alpha_[v]);
        if (std::abs(slope) > tol && length > longest) longest = length, chosen = v, chosen_slope = slope;
      }
      if (chosen < 0) continue;
      const Index i = table_.sample[chosen];
      const double curvature = space_.matrix[i * table_.n_samples + i] + table_.hinges().penalty();
      const double target = std::clamp(alpha_[chosen] - chosen_slope / curvature, 0.0, table_.cap[chosen]);
      const double move = std::abs(target - alpha_[chosen]);
      predicted += move * (std::abs(chosen_slope) - 0.5 * move * curvature);
      alpha_[chosen] = target;
      ++steps;
    }
    return predicted;
  }

  const HingeTable& table_;
  const Space& space_;
  Safeguard guard_;
  bool guarded_;
  std::vector<double> alpha_;
};

TEST(steps_at_once_on_correlated_hinges_need_the_safeguard) {
  Random random(90);
  const Data data(random, 64, 2, 3, 1.0);
  const Space space({KernelKind::rbf, 0.05, 0.0, 3.0}, data);  // every step moves every score almost as much as its own
  for (const HingeTable& table :
       {implicit_table(data, Treatment::penalized, 1.0), classification_table(data, Treatment::none, 1.0)})
    for (const int n_owners : {4, 8, 32}) {
      const check::Context here(name(table.treatment) + ", " + std::to_string(n_owners) + " owners");
      Lockstep alone(table, space, 1, false), unguarded(table, space, n_owners, false),
          guarded(table, space, n_owners, true);
      CHECK(alone.converges(1e-3, many_steps));
      CHECK(!unguarded.converges(1e-3, 20 * alone.steps + 20000));
      CHECK(guarded.converges(1e-3, 2 * alone.steps + 20000));
      CHECK(guarded.n_owners() < n_owners);
    }
}

TEST(steps_at_once_on_hinges_that_hardly_meet_keep_all_owners) {
  Random random(91);
  const Data data(random, 64, 2, 3, 1.0);
  const Space space({KernelKind::rbf, 50.0, 0.0, 3.0}, data);
  const HingeTable table = classification_table(data, Treatment::none, 10.0);
  Lockstep guarded(table, space, 8, true);
  CHECK(guarded.converges(1e-6, many_steps));
  CHECK(guarded.n_owners() == 8);
}

/// Threads that wait for rows wait at the same time, whatever the number of cores: steps are as simultaneous as can be.
TEST(thirty_two_threads_whose_rows_take_long_find_the_optimum) {
  Random random(92);
  const Data data(random, 100, 2, 3, 1.0);
  const Space space({KernelKind::rbf, 0.05, 0.0, 3.0}, data);
  const SlowRows slow(*space.rows, microseconds(500), microseconds(0));
  const HingeTable table = implicit_table(data, Treatment::penalized, 1.0);
  // At most five windows, of at most 8000 steps each, are not accepted; in the others 18 times GCD's 666 steps must do.
  const Options options{1e-3, 5 * 8000 + 12000, 34 * data.n * sizeof(float), false};
  for (const Sharing sharing : {Sharing::log, Sharing::atomic})
    for (const Index max_shrink_steps : {0, 100})
      for (const Shrink shrink : {Shrink::block, Shrink::global}) {
        if (max_shrink_steps == 0 && shrink == Shrink::global) continue;
        const Parallel solver{{32, Partition::sample, sharing, max_shrink_steps, 0.1, shrink}};
        const check::Context here(name(solver));
        check_optimum(table, space, solve(table, slow, solver, options), options.tol);
      }
}

}  // namespace
}  // namespace ordsvm
