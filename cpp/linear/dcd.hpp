// NPSVOR by dual coordinate descent (Shi et al. 2021, section 3.1): what Algorithms 1 and 2 have in common.
//
// The ranks k are independent problems over the same rows x_i, in which a 1 is appended for the bias. With
// side_i = +1 where y_i > k, else -1:
//
//   (4)   min  1/2 |w|^2  +  C1 sum_{y_i = k} max(0, |w.x_i| - epsilon)  +  C2 sum_{y_i != k} max(0, 1 - side_i w.x_i)
//   (6)   min  1/2 |w|^2  +  epsilon sum_{y_i = k} (alpha+_i + alpha-_i)  -  sum_{y_i != k} beta_i
//         0 <= alpha+_i, alpha-_i <= C1,  0 <= beta_i <= C2
//   (7)   w = sum_{y_i = k} (alpha-_i - alpha+_i) x_i  +  sum_{y_i != k} side_i beta_i x_i
//
// C1 and C2 are multiplied by the weight of a row; a row of weight 0 is left out. Slips of the paper: below (4) side
// reads as +1 on the rank itself, which Algorithm 2, line 7, has right; (10) leaves side out of B_i, (16) has it; section
// 4.2.3 calls Algorithm 1 number 4.
//
// Beyond the paper: the stopping rules hold too where all that is left may be rounding (rounding_in). Their eps is 0.1 at
// first, the paper's tolerance (section 4.3.2), and falls until the duality gap of all ranks together is at most tol
// (dcd.py); whenever the rules hold, w is made anew from the dual variables. Several ranks are trained side by side.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "linear/order.hpp"
#include "linear/rows.hpp"
#include "parallel/team.hpp"

namespace ordsvm::linear {

/// What all ranks share.
template <class Rows>
struct RankSamples {
  RankSamples(const Rows& rows, std::span<const SampleIndex> label, std::span<const double> weight)
      : rows(rows), label(label), weight(weight), curvature(rows.squared_norms()) {
    for (const double A : curvature) {
      longest = std::max(longest, std::sqrt(A));
      length += std::sqrt(A);
    }
  }
  Rows rows;
  std::span<const SampleIndex> label;
  std::span<const double> weight;
  std::vector<double> curvature;       // A_i (10)
  double longest = 0.0, length = 0.0;  // of |x_i|, the largest and the sum
};

struct RankProblem {
  SampleIndex rank = 0;
  double C1 = 1.0, C2 = 1.0, epsilon = 0.1;
  double side(SampleIndex label) const { return label > rank ? 1.0 : -1.0; }
};

struct DcdOptions {
  bool permute = false;  // Algorithm 1 only
  bool shrink = true;    // Algorithm 2 only
  std::uint64_t seed = 0;
};

/// Where a quadratic with this slope and curvature at 0 has its minimum: for an empty row without bias, curvature 0, it
/// is at a bound, wherever that may be.
inline double step_to_minimum(double slope, double curvature) {
  if (curvature > 0.0) return -slope / curvature;
  return slope == 0.0 ? 0.0 : std::copysign(std::numeric_limits<double>::infinity(), -slope);
}

/// (15) and (21): what is left of a slope at the bounds 0 and cap.
inline double projected_slope(double slope, double alpha, double cap) {
  if (alpha == 0.0) return std::min(slope, 0.0);
  if (alpha == cap) return std::max(slope, 0.0);
  return slope;
}

/// Violations of the optimality conditions as they were met in an epoch.
struct Violations {
  double sum = 0.0, largest = 0.0;
  void note(double v) {
    sum += std::abs(v);
    largest = std::max(largest, std::abs(v));
  }
};

/// A fresh order of single variables, as the paper has it; Order keeps row blocks together.
template <class T>
void shuffle_order(std::vector<T>& order, Random& random) {
  for (std::size_t j = order.size(); j > 1; --j) std::swap(order[j - 1], order[random.below(j)]);
}

/// What may be rounding in `count` violations, of rows with this length in all, when the parts beta_j x_j of w have
/// that. No smaller violation can be distinguished from none.
inline double rounding_in(double count, double length_of_rows, double length_of_parts) {
  return 4 * std::numeric_limits<double>::epsilon() * (count + length_of_rows * length_of_parts);
}

/// How many visits pass between two looks at whether to pause.
inline constexpr std::size_t visits_between_looks = 256;

/// The machines of some ranks, whichever the algorithm and the data.
class RankMachines {
 public:
  virtual ~RankMachines() = default;

  /// Epochs of every rank until the paper's rule holds with eps, or `until` epochs are done, or the monitor stops it
  /// for a pause, after which another call goes on where this one ended. Whether the rule holds for all ranks.
  virtual bool run(double eps, Index until, int n_threads, Monitor& monitor) = 0;
  /// What the rule compares with eps: the largest of all ranks.
  virtual double violation() const = 0;
  /// Weights from the dual variables anew: leaves behind what rounding has added up to.
  virtual void refresh() = 0;
  /// The weights of the rows in w, (n_samples, n_ranks).
  virtual std::vector<double> beta() const = 0;
  /// Of every rank, one after the other: the epochs done, and what the rule compares violations with.
  virtual std::vector<double> position() const = 0;
  /// Goes on from the beta and the position of another run: weights follow from beta, epochs begin anew.
  virtual void restore(std::span<const double> beta, std::span<const double> position) = 0;

  virtual Index n_samples() const = 0;
  virtual Index n_ranks() const = 0;
  virtual Index epochs() const = 0;  // of the rank with most of them
  virtual Index active() const = 0;  // variables that are not left out at the moment
  virtual const std::vector<double>& curvature() const = 0;
};

/// Dcd is Dcd1 or Dcd2: the machine of one rank. Threads alternate between the ranks, an epoch at a time and the rank
/// with fewest epochs first, so that a limit finds all of them equally far.
template <template <class> class Dcd, class Rows>
class Ranks final : public RankMachines {
 public:
  Ranks(RankSamples<Rows> samples, std::span<const RankProblem> problems, const DcdOptions& options)
      : samples_(std::make_unique<const RankSamples<Rows>>(std::move(samples))) {
    for (const RankProblem& problem : problems) ranks_.emplace_back(*samples_, problem, options);
  }

  bool run(double eps, Index until, int n_threads, Monitor& monitor) override {
    std::mutex mutex;
    std::vector<char> taken(ranks_.size(), 0);
    std::atomic<bool> stop = false;
    std::atomic<Index> most = epochs();
    const auto left = [&](const Dcd<Rows>& rank) { return rank.epochs() < until && !rank.optimal(eps); };
    const auto take = [&] {
      const std::lock_guard lock(mutex);
      Dcd<Rows>* next = nullptr;
      for (auto& rank : ranks_)
        if (!taken[&rank - ranks_.data()] && left(rank) && (!next || rank.epochs() < next->epochs())) next = &rank;
      if (next) taken[next - ranks_.data()] = 1;
      return next;
    };
    const auto give_back = [&](const Dcd<Rows>& rank) {
      const std::lock_guard lock(mutex);
      taken[&rank - ranks_.data()] = 0;
      most = std::max(most.load(), rank.epochs());
    };
    run_watched(
        std::min<int>(n_threads, static_cast<int>(ranks_.size())), stop,
        [&](int, const auto& enough) {
          while (!enough()) {
            Dcd<Rows>* rank = take();
            if (!rank) return;
            rank->epoch(eps, stop);
            give_back(*rank);
          }
        },
        [&] { return monitor.stop_now(most, 0); });
    return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& rank) { return rank.optimal(eps); });
  }

  double violation() const override {
    double largest = 0.0;
    for (const auto& rank : ranks_) largest = std::max(largest, rank.violation());
    return largest;
  }

  void refresh() override {
    for (auto& rank : ranks_) {
      const std::vector<double> beta = rank.beta();
      std::fill(rank.w().begin(), rank.w().end(), 0.0);
      for (Index i = 0; i < n_samples(); ++i)
        if (beta[i] != 0.0) samples_->rows.add(i, beta[i], rank.w());
    }
  }

  std::vector<double> beta() const override {
    std::vector<double> all(n_samples() * ranks_.size());
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      const std::vector<double> beta = ranks_[k].beta();
      for (std::size_t i = 0; i < beta.size(); ++i) all[i * ranks_.size() + k] = beta[i];
    }
    return all;
  }

  std::vector<double> position() const override {
    std::vector<double> all;
    for (const auto& rank : ranks_) all.insert(all.end(), {static_cast<double>(rank.epochs()), rank.reference()});
    return all;
  }

  void restore(std::span<const double> beta, std::span<const double> position) override {
    std::vector<double> column(n_samples());
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      for (std::size_t i = 0; i < column.size(); ++i) column[i] = beta[i * ranks_.size() + k];
      ranks_[k].restore(column, static_cast<Index>(position[2 * k]), position[2 * k + 1]);
    }
    refresh();
  }

  Index n_samples() const override { return samples_->rows.size(); }
  Index n_ranks() const override { return static_cast<Index>(ranks_.size()); }
  Index epochs() const override {
    Index most = 0;
    for (const auto& rank : ranks_) most = std::max(most, rank.epochs());
    return most;
  }
  Index active() const override {
    Index total = 0;
    for (const auto& rank : ranks_) total += rank.active();
    return total;
  }
  const std::vector<double>& curvature() const override { return samples_->curvature; }

 private:
  std::unique_ptr<const RankSamples<Rows>> samples_;
  std::vector<Dcd<Rows>> ranks_;
};

}  // namespace ordsvm::linear
