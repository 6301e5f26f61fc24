// Small problems of linear machines, in every kind of rows, and what their dual variables prove, from the definitions.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "linear/thresholds.hpp"
#include "random.hpp"

namespace ordsvm::linear {

/// Samples with labels, weights (some 0) and targets. Values are few and exact in float; every seventh row is
/// empty; the sparse kinds name columns in descending order, and twice.
struct LinearData {
  Index n, d, n_labels;
  std::vector<double> x, values;
  std::vector<float> x_float, values_float, norm;
  std::vector<std::int32_t> columns, starts = {0}, label;
  std::vector<std::int64_t> long_columns, long_starts;
  std::vector<double> weight, target;

  LinearData(ordsvm::Random& random, Index n, Index d, Index n_labels) : n(n), d(d), n_labels(n_labels), x(n * d, 0.0) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = d - 1; j >= 0; --j)
        if (i % 7 != 3 && random.chance(0.6)) set(i, j, random.quantized());
      starts.push_back(static_cast<std::int32_t>(values.size()));
      label.push_back(static_cast<std::int32_t>(random.index(n_labels)));
      weight.push_back(i % 9 == 5 ? 0.0 : random.uniform(0.5, 2.0));
      target.push_back(random.uniform(-1.0, 1.0));
    }
    x_float.assign(x.begin(), x.end());
    values_float.assign(values.begin(), values.end());
    long_columns.assign(columns.begin(), columns.end());
    long_starts.assign(starts.begin(), starts.end());
    norm.resize(n);
    squared_norms(kinds().front(), norm.data(), 1);
  }
  LinearData(const LinearData&) = delete;

  std::vector<Rows> kinds() const {
    return {DenseView<double>{x.data(), n, d},
            DenseView<float>{x_float.data(), n, d},
            CsrDouble{values.data(), columns.data(), starts.data(), n, d},
            CsrFloat{values_float.data(), columns.data(), starts.data(), n, d},
            CsrDoubleLong{values.data(), long_columns.data(), long_starts.data(), n, d},
            CsrFloatLong{values_float.data(), long_columns.data(), long_starts.data(), n, d}};
  }
  /// Rows from `first` on, `count` of them.
  Rows part(Index first, Index count) const { return DenseView<double>{x.data() + first * d, count, d}; }

  LabelledSamples samples(bool with_targets) const {
    return {label, weight, with_targets ? std::span<const double>(target) : std::span<const double>(), norm};
  }

 private:
  void set(Index i, Index j, double value) {
    x[i * d + j] = value;
    for (const double share : {0.25, 0.75}) {
      values.push_back(share * value);
      columns.push_back(static_cast<std::int32_t>(j));
    }
  }
};

/// Losses with one side, two or none.
inline LaneTable random_lanes(ordsvm::Random& random, Index n_labels, Index n_lanes) {
  LaneTable table{{}, {}, {}, {}, n_labels, n_lanes};
  for (Index at = 0; at < n_labels * n_lanes; ++at) {
    const double cap = random.uniform(0.1, 1.5);
    const Index sides = random.index(4);
    table.lower.push_back(sides == 0 || sides == 2 ? -cap : 0.0);
    table.upper.push_back(sides == 1 || sides == 2 ? cap : 0.0);
    table.offset.push_back(random.uniform(-1.0, 1.0));
    table.epsilon.push_back(random.uniform(0.0, 0.3));
  }
  return table;
}

/// Signs in no order, and some hinges missing.
inline ThresholdTable random_thresholds(ordsvm::Random& random, Index n_labels, Index n_thresholds) {
  ThresholdTable table{{}, {}, n_labels, n_thresholds};
  for (Index at = 0; at < n_labels * n_thresholds; ++at) {
    table.sign.push_back(random.chance(0.5) ? 1.0 : -1.0);
    table.cap.push_back(random.chance(0.8) ? random.uniform(0.1, 1.0) : 0.0);
  }
  return table;
}

/// A threshold is a lane that shares its weights with the others.
inline LaneTable as_lanes(const ThresholdTable& table) {
  LaneTable lanes{{}, {}, table.sign, {}, table.n_labels, table.n_thresholds};
  for (std::size_t at = 0; at < table.cap.size(); ++at) {
    lanes.lower.push_back(table.sign[at] < 0 ? -table.cap[at] : 0.0);
    lanes.upper.push_back(table.sign[at] > 0 ? table.cap[at] : 0.0);
    lanes.epsilon.push_back(0.0);
  }
  return lanes;
}

/// What dual variables [sample][lane] and biases prove.
class PlainProof {
 public:
  PlainProof(const LinearData& data, const LaneTable& table, bool shared, const Options& options, bool with_targets)
      : data_(data), coding_(table), shared_(shared), options_(options), with_targets_(with_targets) {}

  /// `bias` is added to scores: for thresholds it is their negative.
  Certificate of(const std::vector<double>& beta, const std::vector<double>& bias) {
    in_box_ = true;
    Certificate proof{0.0, 0.0, 0.0};
    for (Index l = 0; l < coding_.n_lanes; ++l) {
      const std::vector<double> weights = weights_of(beta, l);
      double total = 0.0;
      for (Index i = 0; i < data_.n; ++i) {
        total += beta[i * coding_.n_lanes + l];
        add(i, l, beta[i * coding_.n_lanes + l], score(i, weights) + (options_.intercept ? bias[l] : 0.0), proof);
      }
      const double squares = shared_ && l > 0 ? 0.0 : score_of_itself(weights);
      proof.primal += 0.5 * (squares + (options_.intercept ? bias[l] * bias[l] : 0.0));
      proof.dual -= 0.5 * (squares + (options_.intercept ? total * total : 0.0));
    }
    return proof;
  }
  bool in_box() const { return in_box_; }

 private:
  std::vector<double> weights_of(const std::vector<double>& beta, Index lane) const {
    std::vector<double> weights(data_.d, 0.0);
    for (Index i = 0; i < data_.n; ++i)
      for (Index l = 0; l < coding_.n_lanes; ++l)
        for (Index j = 0; j < data_.d && (shared_ || l == lane); ++j)
          weights[j] += beta[i * coding_.n_lanes + l] * data_.x[i * data_.d + j];
    return weights;
  }
  double score(Index i, const std::vector<double>& weights) const {
    double sum = 0.0;
    for (Index j = 0; j < data_.d; ++j) sum += weights[j] * data_.x[i * data_.d + j];
    return sum;
  }
  static double score_of_itself(const std::vector<double>& weights) {
    double sum = 0.0;
    for (const double weight : weights) sum += weight * weight;
    return sum;
  }

  /// Loss, conjugate and violation of one sample in one lane.
  void add(Index i, Index l, double beta, double score, Certificate& proof) {
    const Index at = data_.label[i] * coding_.n_lanes + l;
    const double up = data_.weight[i] * coding_.upper[at], down = -data_.weight[i] * coding_.lower[at];
    const double offset = coding_.offset[at] + (with_targets_ ? data_.target[i] : 0.0), epsilon = coding_.epsilon[at];
    const double too_low = std::max(0.0, offset - epsilon - score), too_high = std::max(0.0, score - offset - epsilon);
    const double bend = options_.squared && beta != 0.0 ? beta / (2.0 * (beta > 0.0 ? up : down)) : 0.0;
    const bool squared = options_.squared;
    proof.primal += up * too_low * (squared ? too_low : 1.0) + down * too_high * (squared ? too_high : 1.0);
    proof.dual -= epsilon * std::abs(beta) - offset * beta + 0.5 * beta * bend;
    const double most = squared && up > 0.0 ? infinity : up, least = squared && down > 0.0 ? -infinity : -down;
    in_box_ = in_box_ && least <= beta && beta <= most;
    const double slope = score - offset + bend;
    if (beta < most) proof.violation = std::max(proof.violation, -slope - (beta >= 0.0 ? epsilon : -epsilon));
    if (beta > least) proof.violation = std::max(proof.violation, slope + (beta > 0.0 ? epsilon : -epsilon));
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  const LinearData& data_;
  const LaneTable& coding_;
  bool shared_;
  Options options_;
  bool with_targets_, in_box_ = true;
};

}  // namespace ordsvm::linear
