#include "linear/lanes.hpp"

#include <utility>

#include "base/buffer.hpp"
#include "linear/lane_visit.hpp"

namespace ordsvm::linear {
namespace {

/// Neighbouring lanes that one thread works on.
class LaneGroup {
 public:
  virtual ~LaneGroup() = default;
  virtual void visit(const Rows& rows, Place place, Index part, Index parts) = 0;
  virtual void catch_up(double share) = 0;
  virtual const Order& order() const = 0;
  virtual void take_sums(Sums& sums) = 0;
  virtual void release() = 0;
  virtual void clear() = 0;
  virtual void rebuild(const Rows& rows, Index first) = 0;
  virtual void set_weights(const double* weights, Index stride, const double* sums) = 0;
  virtual void get_beta(Index i, double* out) const = 0;
  virtual void set_beta(Index i, Index lane, double value) = 0;
  virtual void get_biases(double* bias) const = 0;
  virtual void set_biases(const double* bias) = 0;
  virtual Kept take_beta() = 0;
};

template <class W, int P>
class WideGroup final : public LaneGroup {
 public:
  WideGroup(const LaneTable& table, const LabelledSamples& samples, Index n_features, const Options& options,
            std::uint64_t seed)
      : coding_(table, options.squared),
        samples_(samples),
        rho_(options.intercept ? static_cast<W>(options.rho) : W{0}),
        squared_(options.squared),
        n_features_(n_features),
        n_lanes_(table.n_lanes),
        order_(seed),
        weights_(n_features * P),
        beta_(static_cast<Index>(samples.label.size()) * table.n_lanes + P),
        seen_(static_cast<Index>(samples.label.size())) {
    std::fill_n(present_, n_lanes_, W{1});
  }

  void visit(const Rows& rows, Place place, Index part, Index parts) override {
    if (part == 0) order_.shuffle(count(rows));
    if (seen_.turns_late()) forget_early();
    const Group<W, P> group{weights_.data(), beta_.data(), bias_,    total_, present_, n_lanes_, coding_,
                            samples_,        rho_,         squared_, order_, gap_,     loss_,    moved_};
    const Index from = order_.n_row_blocks() * part / parts, to = order_.n_row_blocks() * (part + 1) / parts;
    std::visit([&](const auto& view) { linear::visit(view, group, place, from, to); }, rows);
    seen_.add(order_.n_rows(from, to));
  }

  void catch_up(double share) override {
    const W way = std::min(W{1}, static_cast<W>(share) * rho_);
    for (int l = 0; l < P; ++l) bias_[l] += way * (total_[l] - bias_[l]);
  }

  const Order& order() const override { return order_; }

  void take_sums(Sums& sums) override {
    const double scale = seen_.take_scale();
    for (int l = 0; l < P; ++l) {
      sums.gap += scale * std::exchange(gap_[l], 0.0);
      sums.loss += scale * std::exchange(loss_[l], 0.0);
      sums.moved += std::exchange(moved_[l], 0.0);
    }
    if (rho_ == 0) return;
    for (int l = 0; l < P; ++l) {
      sums.moved += 0.5 * (total_[l] * total_[l] - counted_[l] * counted_[l]);
      counted_[l] = total_[l];
    }
    for (int l = 0; l < P; ++l) sums.gap += 0.5 * (bias_[l] - total_[l]) * (bias_[l] - total_[l]);
  }

  void release() override { weights_ = Buffer<W>(0); }
  void clear() override {
    weights_ = Buffer<W>(n_features_ * P);
    std::fill_n(total_, P, W{0});
  }
  void rebuild(const Rows& rows, Index first) override {
    double total[P] = {};
    std::visit(
        [&](const auto& view) {
          for (Index i = 0; i < view.n_rows; ++i) {
            const W* const at = beta_.data() + (first + i) * n_lanes_;
            for (Index l = 0; l < n_lanes_; ++l) total[l] += static_cast<double>(at[l]);
            Lanes<W, P> beta, present;
            load_pack(beta, at), load_pack(present, present_);
            beta *= present;
            const auto row = row_of(view, i);
            if (any(beta)) add_row<P>(row, beta, weights_.data(), row);
          }
        },
        rows);
    for (int l = 0; l < P; ++l) counted_[l] = total_[l] += static_cast<W>(total[l]);
  }

  void set_weights(const double* weights, Index stride, const double* sums) override {
    for (Index j = 0; j < n_features_; ++j) std::copy_n(weights + j * stride, n_lanes_, weights_.data() + j * P);
    std::copy_n(sums, n_lanes_, total_);
    std::copy_n(sums, n_lanes_, counted_);
  }

  void get_beta(Index i, double* out) const override { std::copy_n(beta_.data() + i * n_lanes_, n_lanes_, out); }
  void set_beta(Index i, Index lane, double value) override {
    beta_.data()[i * n_lanes_ + lane] = static_cast<W>(value);
  }
  void get_biases(double* bias) const override { std::copy_n(bias_, n_lanes_, bias); }
  void set_biases(const double* bias) override { std::copy_n(bias, n_lanes_, bias_); }
  Kept take_beta() override { return keep(std::move(beta_), n_lanes_); }

 private:
  void forget_early() {
    std::fill_n(gap_, P, 0.0);
    std::fill_n(loss_, P, 0.0);
  }

  WideTable<W, P> coding_;
  LabelledSamples samples_;
  W rho_, squared_;
  Index n_features_, n_lanes_;
  Order order_;
  Buffer<W> weights_, beta_;
  alignas(64) W bias_[P] = {}, total_[P] = {}, present_[P] = {};
  double gap_[P] = {}, loss_[P] = {}, moved_[P] = {};
  double counted_[P] = {};  // total_ as the last sums had it
  Seen seen_;
};

std::unique_ptr<LaneGroup> make_group(const LaneTable& table, const LabelledSamples& samples, Index n_features,
                                      const Options& options, std::uint64_t seed) {
  const auto make = [&]<class W, int P>() -> std::unique_ptr<LaneGroup> {
    return std::make_unique<WideGroup<W, P>>(table, samples, n_features, options, seed);
  };
  const auto narrow = [&]<class W>() {
    if (table.n_lanes == 1) return make.template operator()<W, 1>();
    if (table.n_lanes <= 4) return make.template operator()<W, 4>();
    return make.template operator()<W, 8>();
  };
  if (options.precise) return narrow.template operator()<double>();
  return table.n_lanes > 8 ? make.template operator()<float, 16>() : narrow.template operator()<float>();
}

LaneTable some_lanes(const LaneTable& table, Index from, Index to) {
  const auto pick = [&](const std::vector<double>& values) {
    std::vector<double> picked;
    for (Index y = 0; y < table.n_labels; ++y)
      picked.insert(picked.end(), values.begin() + y * table.n_lanes + from, values.begin() + y * table.n_lanes + to);
    return picked;
  };
  return {pick(table.lower), pick(table.upper), pick(table.offset), pick(table.epsilon), table.n_labels, to - from};
}

class LaneMachine final : public Machine {
 public:
  LaneMachine(const LaneTable& table, const LabelledSamples& samples, Index n_features, const Options& options)
      : Machine(n_features, table.n_lanes), coding_(table), samples_(samples), options_(options) {
    const Index at_most = options.precise ? 8 : 16;  // lanes of a group: 64 bytes
    const Index n_groups =
        std::max<Index>(std::min<Index>(options.n_threads, table.n_lanes), (table.n_lanes + at_most - 1) / at_most);
    for (Index g = 0; g <= n_groups; ++g) begin_.push_back(table.n_lanes * g / n_groups);
    for (Index g = 0; g < n_groups; ++g)
      groups_.push_back(
          make_group(some_lanes(table, begin_[g], begin_[g + 1]), samples, n_features, options, options.seed));
  }

  Sums take_sums() override {
    Sums sums;
    for (auto& group : groups_) group->take_sums(sums);
    return sums;
  }
  void rebuild(const Rows& rows, Index first) override {
    for (auto& group : groups_) group->rebuild(rows, first);
  }
  void set_weights(std::span<const double> weights, std::span<const double> sums) override {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      groups_[g]->set_weights(weights.data() + begin_[g], coding_.n_lanes, sums.data() + begin_[g]);
  }
  std::vector<double> biases() const override {
    std::vector<double> bias(coding_.n_lanes);
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g]->get_biases(bias.data() + begin_[g]);
    return bias;
  }
  void set_biases(std::span<const double> values) override {
    if (!options_.intercept) return;
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g]->set_biases(values.data() + begin_[g]);
  }
  Index n_variables() const override { return coding_.n_lanes; }
  void get_variables(Index i, double* out) const override { get_beta(i, out); }
  void put_variables(Index i, const double* values) override {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (Index l = begin_[g]; l < begin_[g + 1]; ++l) {
        const auto [lower, upper] = box(i, l);
        groups_[g]->set_beta(i, l - begin_[g], std::clamp(values[l], lower, upper));
      }
  }
  std::vector<Kept> take_variables() override {
    std::vector<Kept> kept;
    for (auto& group : groups_) kept.push_back(group->take_beta());
    return kept;
  }

 private:
  int n_groups() const override { return static_cast<int>(groups_.size()); }
  void visit(int group, const Rows& rows, Place place, Index part, Index parts) override {
    groups_[group]->visit(rows, place, part, parts);
  }
  void catch_up(int group, double share) override { groups_[group]->catch_up(share); }
  const Order& order() const override { return groups_[0]->order(); }
  void release() override {
    bias_ = biases();
    for (auto& group : groups_) group->release();
  }
  void clear() override {
    for (auto& group : groups_) group->clear();
  }
  /// In the box, whatever rounding to float has made of it.
  void get_beta(Index i, double* out) const override {
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g]->get_beta(i, out + begin_[g]);
    for (Index l = 0; l < coding_.n_lanes; ++l) {
      const auto [lower, upper] = box(i, l);
      out[l] = std::clamp(out[l], lower, upper);
    }
  }

  std::pair<double, double> box(Index i, Index l) const {
    constexpr double unbounded = std::numeric_limits<double>::infinity();
    const Index at = samples_.label[i] * coding_.n_lanes + l;
    const double weight = samples_.weight_of(i), lower = weight * coding_.lower[at], upper = weight * coding_.upper[at];
    if (!options_.squared) return {lower, upper};
    return {lower < 0 ? -unbounded : 0.0, upper > 0 ? unbounded : 0.0};
  }

  void add_proof(Index i, const double* product, Sums& sums) const override {
    std::vector<double> variables(coding_.n_lanes);
    get_beta(i, variables.data());
    const double weight = samples_.weight_of(i);
    for (Index l = 0; l < coding_.n_lanes; ++l) {
      const Index at = samples_.label[i] * coding_.n_lanes + l;
      const double lower = weight * coding_.lower[at], upper = weight * coding_.upper[at],
                   epsilon = coding_.epsilon[at];
      const double offset = coding_.offset[at] + samples_.target_of(i), beta = variables[l];
      const double slope = product[l] + bias_[l] - offset, cap = std::max(-lower, upper);
      const double error = upper > 0 && slope < 0   ? std::max(0.0, -slope - epsilon)
                           : lower < 0 && slope > 0 ? std::max(0.0, slope - epsilon)
                                                    : 0.0;
      const double ridge = options_.squared && cap > 0 ? 0.5 / cap : 0.0;
      sums.loss += cap * error * (options_.squared ? error : 1.0);
      sums.linear += -offset * beta + epsilon * std::abs(beta) + 0.5 * ridge * beta * beta;
      const auto [least, most] = box(i, l);
      sums.violation = std::max(sums.violation, projected_gradient(slope + ridge * beta, epsilon, beta, least, most));
    }
  }

  std::pair<double, double> squared_biases(std::span<const double> total) const override {
    if (!options_.intercept) return {0.0, 0.0};
    double primal = 0.0, dual = 0.0;
    for (const double b : bias_) primal += b * b;
    for (const double b : total) dual += b * b;
    return {primal, dual};
  }

  LaneTable coding_;
  LabelledSamples samples_;
  Options options_;
  std::vector<Index> begin_;  // of the groups
  std::vector<std::unique_ptr<LaneGroup>> groups_;
  std::vector<double> bias_;  // while a proof is made
};

}  // namespace

std::unique_ptr<Machine> make_lanes(const LaneTable& table, const LabelledSamples& samples, Index n_features,
                                    const Options& options) {
  return std::make_unique<LaneMachine>(table, samples, n_features, options);
}

}  // namespace ordsvm::linear
