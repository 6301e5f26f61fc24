#include "newton.hpp"

#include <cmath>
#include <limits>

#include "../dispatch.hpp"

namespace ordsvm::search {
namespace {

constexpr int most_steps = 80, most_first_steps = 15, most_steps_of_a_width = 7;

/// (cap * clip(0.5 - (margin + t * along) / width, 0, 1)) @ along
ORDSVM_DISPATCH double pull(const double* cap, const double* margin, const double* along, Index n, double t,
                            double width) {
  double total = 0.0;
  const double inverse = 1.0 / width;
#pragma omp simd reduction(+ : total)
  for (Index v = 0; v < n; ++v) {
    const double share = 0.5 - (margin[v] + t * along[v]) * inverse;
    total += cap[v] * std::min(1.0, std::max(0.0, share)) * along[v];
  }
  return total;
}

class Newton {
 public:
  Newton(const Known& known, const Hinges& hinges, const Variables& variables)
      : known_(known),
        h_(hinges),
        m_(hinges.n_thresholds),
        columns_(hinges.treatment == Thresholds::none ? 0 : m_),
        at_{hinges.beta(variables.alpha),
            {variables.score.begin(), variables.score.end()},
            {variables.threshold.begin(), variables.threshold.end()},
            std::vector<signed char>(hinges.size(), 0)},
        margin_(hinges.size()),
        along_(hinges.size()) {}

  bool run(const Widths& widths, const std::function<bool()>& stop) {
    width_ = std::max(widths.first, widths.last);
    settle_thresholds();
    if (minimise(most_first_steps, false, stop) < 0) return false;
    double factor = 0.3;
    while (width_ > widths.last) {
      const Point before = at_;
      const double wider = width_;
      width_ = std::max(widths.last, factor * wider);
      const int steps = minimise(most_steps_of_a_width, true, stop);
      if (steps < 0) {
        if (factor > 0.9 || made_ > most_steps || stop()) return false;
        at_ = before;
        width_ = wider;
        factor = std::sqrt(factor);
      } else {
        factor = steps <= 2 ? std::max(0.1, factor * factor) : steps <= 4 ? factor : std::min(0.8, std::sqrt(factor));
      }
    }
    return true;
  }

  /// alpha = -h'(G); what rounding leaves of free thresholds' sums is given to hinges that have room.
  bool dual(std::span<double> alpha) const {
    for (Index v = 0; v < h_.size(); ++v) alpha[v] = h_.cap[v] * std::clamp(0.5 - margin_[v] / width_, 0.0, 1.0);
    for (Index k = 0; k < m_ && h_.treatment == Thresholds::free; ++k) {
      double excess = 0.0;
      for (Index v = h_.first[k]; v < h_.first[k + 1]; ++v) excess += h_.sign[v] * alpha[v];
      for (Index v = h_.first[k]; v < h_.first[k + 1] && excess != 0.0; ++v) {
        if (alpha[v] <= 0.0 || alpha[v] >= h_.cap[v]) continue;
        const double changed = std::clamp(alpha[v] - h_.sign[v] * excess, 0.0, h_.cap[v]);
        excess += h_.sign[v] * (changed - alpha[v]);
        alpha[v] = changed;
      }
      if (std::abs(excess) > 1e-12 * h_.cap[h_.first[k]]) return false;
    }
    return true;
  }

 private:
  struct Point {
    std::vector<double> beta, score, b;
    std::vector<signed char> piece;  // of its loss that a hinge is on: 1 slope -cap, 0 parabola, -1 no loss
  };

  /// How many steps it took to the minimum for this width, -1 if it was not found. `expects`: hinges on old pieces.
  int minimise(int most, bool expects, const std::function<bool()>& stop) {
    const Index far = static_cast<Index>(unknown_.size()) / 3;
    bool whole = false;
    for (int step = 0; step <= most && !stop(); ++step) {
      const bool by_old = expects && step == 0;
      const Index changes = look(!by_old);
      if (step > 0 && whole && changes == 0) return step;
      if (step == most || (expects && step == 1 && changes > far) || !direction()) break;
      ++made_;
      whole = advance(!by_old);
    }
    return -1;
  }

  /// Free thresholds: the best ones for these scores. The sum of sign * alpha rises with b.
  void settle_thresholds() {
    for (Index k = 0; k < m_ && h_.treatment == Thresholds::free; ++k) {
      double low = std::numeric_limits<double>::infinity(), high = -low, total = 0.0;
      for (Index v = h_.first[k]; v < h_.first[k + 1]; ++v) {
        const double level = at_.score[h_.sample[v]] - h_.sign[v] * h_.offset[v];
        low = std::min(low, level - width_), high = std::max(high, level + width_);
        total += h_.cap[v];
      }
      for (int turn = 0; turn < 60; ++turn) {
        const double b = at_.b[k] = 0.5 * (low + high);
        double sum = 0.0;
        for (Index v = h_.first[k]; v < h_.first[k + 1]; ++v) {
          const double margin = h_.sign[v] * (at_.score[h_.sample[v]] - b) - h_.offset[v];
          sum += h_.sign[v] * h_.cap[v] * std::clamp(0.5 - margin / width_, 0.0, 1.0);
        }
        if (std::abs(sum) <= 1e-6 * total) break;
        (sum > 0.0 ? high : low) = b;
      }
    }
  }

  /// Margins and, if wanted, the pieces that hinges are on now; how many are on another than before.
  Index look(bool at_pieces) {
    Index changes = 0;
    for (Index v = 0; v < h_.size(); ++v)
      margin_[v] = h_.sign[v] * (at_.score[h_.sample[v]] - at_.b[h_.threshold[v]]) - h_.offset[v];
    for (Index v = 0; v < h_.size() && at_pieces; ++v) {
      const signed char piece = margin_[v] <= -0.5 * width_ ? 1 : margin_[v] >= 0.5 * width_ ? -1 : 0;
      changes += piece != at_.piece[v];
      at_.piece[v] = piece;
    }
    return changes;
  }

  /// Where beta and b go from here, were every hinge to stay on its piece. Hinges on parabolas have
  /// alpha = cap/2 - w (s (f - b) - o), w = cap / width. With W the sum of w for a sample, E for a sample and a
  /// threshold, c what does not depend on f and b, and d the change of beta, which is known for all other samples:
  ///   beta = c - W f + E b   so   (K + 1/W) d = (c + E b - beta)/W - f - K[:, others] d[others]
  bool direction() {
    weight_.assign(h_.n_samples, 0.0);
    constant_.assign(h_.n_samples, 0.0);
    change_.assign(h_.n_samples, 0.0);
    place_.assign(h_.n_samples, -1);
    unknown_.clear();
    std::vector<double> of_threshold(m_, 0.0);
    for (Index v = 0; v < h_.size(); ++v) {
      if (at_.piece[v] < 0) continue;
      const double w = at_.piece[v] == 0 ? h_.cap[v] / width_ : 0.0;
      const double c = h_.sign[v] * (at_.piece[v] == 0 ? 0.5 * h_.cap[v] + w * h_.offset[v] : h_.cap[v]);
      constant_[h_.sample[v]] += c;
      of_threshold[h_.threshold[v]] += c;
      weight_[h_.sample[v]] += w;
    }
    for (Index i = 0; i < h_.n_samples; ++i) {
      if (weight_[i] > 0.0)
        place_[i] = static_cast<Index>(unknown_.size()), unknown_.push_back(i);
      else
        change_[i] = constant_[i] - at_.beta[i];
    }
    size_ = static_cast<Index>(unknown_.size());
    return solve_samples() && solve_thresholds(of_threshold);
  }

  /// d of the unknown samples: right[:, 0] if b were 0, and right[:, k + 1] for every unit of threshold k.
  bool solve_samples() {
    moved_.assign(known_.stride(), 0.0);
    const Change others(change_);
    known_.add<double>(others.rows, others.weights, moved_.data());
    right_.assign(size_ * (columns_ + 1), 0.0);
    meeting_.assign(size_ * columns_, 0.0);
    for (Index p = 0; p < size_; ++p) {
      const Index i = unknown_[p];
      right_[p] = (constant_[i] - at_.beta[i]) / weight_[i] - at_.score[i] - moved_[i];
    }
    for (Index v = 0; v < h_.size() && columns_ > 0; ++v) {
      if (at_.piece[v] != 0) continue;
      const Index p = place_[h_.sample[v]], k = h_.threshold[v];
      meeting_[k * size_ + p] += h_.cap[v] / width_;
      right_[(k + 1) * size_ + p] += h_.cap[v] / width_ / weight_[h_.sample[v]];
    }
    system_.resize(size_ * size_);
    for (Index p = 0; p < size_; ++p) {
      double* to = system_.data() + p * size_;
      gather(known_.row(unknown_[p]), std::span(unknown_).subspan(p), to + p);
      to[p] += 1.0 / weight_[unknown_[p]];
    }
    return solve(system_, right_, size_, columns_ + 1);
  }

  /// b: gamma_k = of_threshold - E'f + (sum of w) b is to be 0, or -b where thresholds are penalised.
  bool solve_thresholds(std::span<const double> of_threshold) {
    std::vector<double> b(m_, 0.0), matrix(m_ * m_, 0.0);
    for (Index k = 0; k < columns_; ++k) {
      const double* e = meeting_.data() + k * size_;
      double sum = 0.0;
      b[k] = -of_threshold[k];
      for (Index p = 0; p < size_; ++p) {
        if (e[p] == 0.0) continue;
        const Index i = unknown_[p];
        const double share = e[p] / weight_[i];
        sum += e[p];
        b[k] += share * (constant_[i] - at_.beta[i] - right_[p]);
        for (Index l = 0; l < m_; ++l)
          matrix[k * m_ + l] -= share * (meeting_[l * size_ + p] - right_[(l + 1) * size_ + p]);
      }
      matrix[k * m_ + k] += (sum + h_.penalty()) * (1.0 + 1e-12);
      if (sum == 0.0 && h_.penalty() == 0.0) matrix[k * m_ + k] = 1.0, b[k] = at_.b[k];
    }
    if (columns_ > 0 && !solve(matrix, b, m_, 1)) return false;
    for (Index p = 0; p < size_; ++p) change_[unknown_[p]] = right_[p];
    for (Index k = 0; k < columns_; ++k)
      for (Index p = 0; p < size_; ++p) change_[unknown_[p]] += right_[(k + 1) * size_ + p] * b[k];
    for (Index k = 0; k < m_; ++k) b[k] -= at_.b[k];
    change_b_ = b;
    return true;
  }

  /// right = matrix^-1 right; the matrix is symmetric, and the upper part of its rows is looked at.
  bool solve(std::vector<double>& matrix, std::vector<double>& right, Index size, Index columns) const {
    if (size == 0) return true;
    int n = static_cast<int>(size), n_right = static_cast<int>(columns), info = 0;
    char part = 'L';  // of columns
    known_.lapack().potrf(&part, &n, matrix.data(), &n, &info);
    if (info != 0) return false;
    known_.lapack().potrs(&part, &n, &n_right, matrix.data(), &n, right.data(), &n, &info);
    return info == 0;
  }

  /// Goes all the way or, if it `searches`, to the minimum on it; true if that is its end.
  bool advance(bool searches) {
    weights_.resize(size_);
    for (Index p = 0; p < size_; ++p) weights_[p] = change_[unknown_[p]];
    known_.add<double>(unknown_, weights_, moved_.data());
    const double t = searches ? best_place() : 1.0;
    for (Index i = 0; i < h_.n_samples; ++i) at_.beta[i] += t * change_[i], at_.score[i] += t * moved_[i];
    for (Index k = 0; k < m_; ++k) at_.b[k] += t * change_b_[k];
    return t == 1.0;
  }

  double best_place() {
    double start = 0.0, curvature = 0.0;
    for (Index i = 0; i < h_.n_samples; ++i) start += change_[i] * at_.score[i], curvature += change_[i] * moved_[i];
    for (Index k = 0; k < m_; ++k) {
      start += h_.penalty() * change_b_[k] * at_.b[k];
      curvature += h_.penalty() * change_b_[k] * change_b_[k];
    }
    for (Index v = 0; v < h_.size(); ++v) along_[v] = h_.sign[v] * (moved_[h_.sample[v]] - change_b_[h_.threshold[v]]);
    const auto slope = [&](double t) {
      return start + t * curvature - pull(h_.cap.data(), margin_.data(), along_.data(), h_.size(), t, width_);
    };
    double low = 0.0, low_slope = slope(0.0), high = 1.0, high_slope = slope(1.0);
    const double enough = 1e-2 * std::abs(low_slope);
    if (!(low_slope < 0.0) || high_slope <= enough) return 1.0;
    double t = 1.0;
    for (int turn = 0; turn < 30; ++turn) {
      t = turn % 3 == 2 ? 0.5 * (low + high) : low - low_slope * (high - low) / (high_slope - low_slope);
      const double here = slope(t);
      if (std::abs(here) <= enough) break;
      if (here < 0.0)
        low = t, low_slope = here;
      else
        high = t, high_slope = here;
    }
    return t;
  }

  const Known& known_;
  const Hinges& h_;
  Index m_, columns_, size_ = 0;
  Point at_;
  double width_ = 0.0;
  int made_ = 0;                                                       // steps
  std::vector<double> margin_, along_;                                 // of hinges
  std::vector<double> weight_, constant_, change_, moved_;             // of samples
  std::vector<double> right_, meeting_, system_, weights_, change_b_;  // of the system
  std::vector<Index> unknown_, place_;
};

}  // namespace

bool newton(const Known& known, const Hinges& hinges, const Variables& variables, const Widths& widths,
            const std::function<bool()>& stop) {
  Newton method(known, hinges, variables);
  std::vector<double> alpha(hinges.size());
  if (!method.run(widths, stop) || !method.dual(alpha)) return false;
  std::copy(alpha.begin(), alpha.end(), variables.alpha.begin());
  std::fill(variables.score.begin(), variables.score.end(), 0.0);
  const Change all(hinges.beta(alpha));
  known.add<double>(all.rows, all.weights, variables.score.data());
  if (hinges.penalty() > 0.0) {
    std::fill(variables.threshold.begin(), variables.threshold.end(), 0.0);
    for (Index v = 0; v < hinges.size(); ++v) variables.threshold[hinges.threshold[v]] -= hinges.sign[v] * alpha[v];
  }
  return true;
}

}  // namespace ordsvm::search
