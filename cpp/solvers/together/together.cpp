#include "solvers/together/together.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "parallel/team.hpp"
#include "solvers/full_kernel/solve.hpp"
#include "solvers/together/groups.hpp"

namespace ordsvm::together {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

/// The violation from which Newton's method may take over: newton_start_violation in block.py.
double newton_start(const Hinges& hinges, double share) {
  double sum = 0.0, squares = 0.0, absolute = 0.0;
  const double count = static_cast<double>(hinges.size());
  for (Index v = 0; v < hinges.size(); ++v) sum += hinges.sign[v] * hinges.offset[v];
  for (Index v = 0; v < hinges.size(); ++v) {
    const double level = hinges.sign[v] * hinges.offset[v];
    squares += (level - sum / count) * (level - sum / count);
    absolute += std::abs(level);
  }
  return share * (squares > 0.0 ? std::sqrt(squares / count) : absolute / count);
}

/// The looks at one problem, by the clock.
class ClockLooks final : public full_kernel::Looks {
 public:
  ClockLooks(Clock::time_point began, double interval, const LazyRows& rows, const Hinges& hinges,
             std::span<const double> alpha)
      : began_(began), interval_(interval), next_(interval), rows_(rows), hinges_(hinges), alpha_(alpha) {}

  std::vector<Look>& taken() { return taken_; }

  bool due() override { return seconds_since(began_) >= next_; }
  void take(const full_kernel::Look& look) override {
    const auto& proof = look.proof;
    const auto beta = hinges_.beta(alpha_);
    const auto n_support = std::count_if(beta.begin(), beta.end(), [](double b) { return b != 0.0; });
    const double seconds = seconds_since(began_);
    taken_.push_back({proof.primal, proof.dual, proof.gap, look.violation, proof.thresholds[0], seconds, look.steps,
                      rows_.made(), static_cast<Index>(n_support),
                      hinges_.treatment == Treatment::penalized ? look.thresholds[0] : proof.thresholds[0]});
    next_ = seconds + interval_;
  }

 private:
  Clock::time_point began_;
  double interval_, next_;
  const LazyRows& rows_;
  const Hinges& hinges_;
  std::span<const double> alpha_;
  std::vector<Look> taken_;
};

class Solve {
 public:
  Solve(const RowSource& source, const Problems& problems, const Partition& partition, const Options& options,
        bool shares)
      : problems_(problems), partition_(partition), options_(options), kernel_(source, partition, shares) {}

  void run(std::span<double> alpha, std::span<double> score, std::span<Found> found,
           const std::function<bool()>& watch) {
    std::vector<Index> order(problems_.count());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return partition_.size_of(a) > partition_.size_of(b); });
    const int n_threads = std::min<int>(options_.n_threads, static_cast<int>(order.size()));
    std::atomic<Index> next = 0;
    const auto work = [&](int, const auto& enough) {
      LazyRows own(true);
      for (Index at; !enough() && (at = next.fetch_add(1)) < problems_.count();) {
        const Index p = order[at];
        const double limit = share_of_time(problems_.count() - at);
        if (limit > 0.0) found[p] = one(p, own, alpha, score, limit);
      }
    };
    run_watched(n_threads, stop_, work, watch, std::chrono::milliseconds(50));
    if (!has_several_groups()) found[0].kernel_rows = kernel_.own(0).made();
  }

 private:
  bool has_several_groups() const { return partition_.members.size() > 1; }

  /// Seconds of the next problem, when so many have not begun.
  double share_of_time(Index n_left) const {
    if (options_.seconds <= 0.0) return std::numeric_limits<double>::infinity();
    const double left = options_.seconds - seconds_since(began_);
    return left * std::min(1.0, static_cast<double>(options_.n_threads) / static_cast<double>(n_left));
  }

  Found one(Index p, LazyRows& own, std::span<double> all_alpha, std::span<double> all_scores, double limit) {
    const auto began = Clock::now();
    const std::span<const Index> groups(partition_.groups_of[p]);
    if (groups.size() > 1) kernel_.start(own, groups);
    const LazyRows& rows = groups.size() > 1 ? own : kernel_.own(groups[0]);
    const Index first = problems_.begin[p], count = problems_.begin[p + 1] - first;
    std::vector<SampleIndex> sample(count), threshold(count, 0);
    const Hinges hinges = table(p, sample, threshold);
    std::vector<double> score(rows.stride(), 0.0), b(1, 0.0);
    const Variables variables{all_alpha.subspan(first, count), score, b};
    start(rows, hinges, variables);
    const Index max_steps = options_.max_steps + options_.max_steps_a_hinge * count;
    Monitor monitor([&](Index steps, Index) { return stop_ || steps >= max_steps || seconds_since(began) >= limit; });
    monitor.report_every(max_steps);
    ClockLooks looks(began, options_.look_seconds, rows, hinges, variables.alpha);
    full_kernel::Solver solver(rows, hinges, variables, options_.tol,
                               {.newton_start = newton_start(hinges, options_.newton_share)}, monitor, &looks);
    const full_kernel::Fit fit = solver.run();
    write_scores(p, groups, score, all_scores);
    const bool late = stop_ || seconds_since(began) >= limit;
    return {fit.proof.primal,
            fit.proof.dual,
            fit.proof.gap,
            fit.violation,
            fit.proof.thresholds[0],
            seconds_since(began),
            fit.steps,
            groups.size() > 1 ? rows.made() : 0,
            fit.converged ? End::converged
            : late        ? End::stopped
                          : End::unfinished,
            std::move(looks.taken())};
  }

  /// The hinges of a problem on its own samples: group by group, in the order of `LazyRows`.
  Hinges table(Index p, std::span<SampleIndex> sample, std::span<const SampleIndex> threshold) const {
    std::vector<Index> offset(partition_.members.size(), 0);
    Index n = 0;
    for (const Index g : partition_.groups_of[p]) {
      offset[g] = n;
      n += static_cast<Index>(partition_.members[g].size());
    }
    const Index first = problems_.begin[p];
    const std::size_t count = sample.size();
    for (std::size_t v = 0; v < count; ++v) {
      const Index i = problems_.sample[first + v];
      sample[v] = static_cast<SampleIndex>(offset[partition_.group[i]] + partition_.place[i]);
    }
    Hinges hinges{sample,
                  threshold,
                  problems_.sign.subspan(first, count),
                  problems_.offset.subspan(first, count),
                  problems_.cap.subspan(first, count),
                  n,
                  1,
                  problems_.treatment,
                  {},
                  {}};
    hinges.index();
    return hinges;
  }

  /// Scores and the penalised threshold of a given alpha.
  static void start(const LazyRows& rows, const Hinges& hinges, const Variables& variables) {
    const full_kernel::Change given(hinges.beta(variables.alpha));
    full_kernel::add_rows(rows, given.rows, given.weights, variables.score.data());
    if (hinges.treatment == Treatment::penalized)
      variables.threshold[0] = 0.0 - std::accumulate(given.weights.begin(), given.weights.end(), 0.0);
  }

  void write_scores(Index p, std::span<const Index> groups, std::span<const double> score,
                    std::span<double> all) const {
    if (all.empty()) return;
    auto from = score.begin();
    for (const Index g : groups)
      for (const Index i : partition_.members[g]) all[p * problems_.n_samples + i] = *from++;
  }

  const Problems& problems_;
  const Partition& partition_;
  const Options& options_;
  GroupedKernel kernel_;
  const Clock::time_point began_ = Clock::now();
  std::atomic<bool> stop_ = false;
};

/// Bytes of rows of so many samples, in double and perhaps in float.
double bytes_of(Index n, bool has_rounded) {
  return static_cast<double>(n) * static_cast<double>(block::padded(n)) * (has_rounded ? 12.0 : 8.0);
}

}  // namespace

bool solve(const RowSource& source, const Problems& problems, std::span<double> alpha, std::span<double> score,
           std::span<Found> found, const Options& options, const std::function<bool()>& watch) {
  std::vector<std::span<const SampleIndex>> samples;
  for (Index p = 0; p < problems.count(); ++p)
    samples.push_back(problems.sample.subspan(problems.begin[p], problems.begin[p + 1] - problems.begin[p]));
  const Partition partition(problems.n_samples, samples);
  const bool is_one = partition.members.size() == 1;
  const bool has_none = std::any_of(samples.begin(), samples.end(), [](const auto& own) { return own.empty(); });
  if (has_none || !partition.meet_once()) return false;
  double shared = 0.0, least = tiles::fits_tiles(source) ? 0.0 : bytes_of(source.size(), false);
  for (const auto& members : partition.members) shared += bytes_of(static_cast<Index>(members.size()), is_one);
  if (!is_one) {
    Index largest = 0;
    for (Index p = 0; p < problems.count(); ++p) largest = std::max(largest, partition.size_of(p));
    least += bytes_of(largest, true) * std::min<double>(options.n_threads, static_cast<double>(problems.count()));
  }
  const bool shares = least + shared <= options.budget;
  if (!shares && (is_one || least > options.budget)) return false;
  Solve(source, problems, partition, options, shares).run(alpha, score, found, watch);
  return true;
}

}  // namespace ordsvm::together
