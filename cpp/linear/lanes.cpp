#include "lanes.hpp"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "../buffer.hpp"
#include "../dispatch.hpp"

namespace ordsvm::linear {
namespace {

template <class W, int P>
struct VectorOf {
  using Type [[gnu::vector_size(P * sizeof(W))]] = W;
};
template <class W>
struct VectorOf<W, 1> {
  using Type = W;
};
/// P numbers that are computed with at once.
template <class W, int P>
using Lanes = typename VectorOf<W, P>::Type;

template <class V, class W>
ORDSVM_INLINE void load(V& value, const W* from) {
  std::memcpy(&value, from, sizeof value);
}
template <class V, class W>
ORDSVM_INLINE void store(W* to, const V& value) {
  std::memcpy(to, &value, sizeof value);
}

template <class V>
ORDSVM_INLINE void larger(V& result, const V& a, const V& b) {
  result = a > b ? a : b;
}

/// Differences of numbers are 0 in all bits or not 0.
template <class V>
ORDSVM_INLINE bool any(const V& difference) {
  using Word = std::conditional_t<sizeof(V) % 8 == 0, std::uint64_t, std::uint32_t>;
  Word words[sizeof(V) / sizeof(Word)], all = 0;
  std::memcpy(words, &difference, sizeof words);
  for (const Word word : words) all |= word;
  return all != 0;
}

/// The table, widened to P lanes; lanes that are not there have bounds 0 and stay at 0.
template <class W, int P>
struct WideTable {
  struct Entry {
    alignas(64) W lower[P], upper[P], offset[P], epsilon[P], cap[P], ridge[P];
  };
  std::vector<Entry> entries;

  WideTable(const LaneTable& table, bool squared) : entries(table.n_labels) {
    constexpr W unbounded = std::numeric_limits<W>::max();
    for (Index y = 0; y < table.n_labels; ++y) {
      entries[y] = {};
      for (Index l = 0; l < table.n_lanes; ++l) {
        const Index at = y * table.n_lanes + l;
        const double cap = std::max(-table.lower[at], table.upper[at]);
        entries[y].lower[l] = static_cast<W>(squared && table.lower[at] < 0 ? -unbounded : table.lower[at]);
        entries[y].upper[l] = static_cast<W>(squared && table.upper[at] > 0 ? unbounded : table.upper[at]);
        entries[y].offset[l] = static_cast<W>(table.offset[at]);
        entries[y].epsilon[l] = static_cast<W>(table.epsilon[at]);
        entries[y].cap[l] = static_cast<W>(cap);
        entries[y].ridge[l] = static_cast<W>(squared && cap > 0 ? 0.5 / cap : 0.0);
      }
    }
  }
};

/// All that a visit reads and writes.
template <class W, int P>
struct Group {
  W* weights;        // [feature][P]
  W* beta;           // [sample][n_lanes]; a vector of P reaches into the next sample's
  W* bias;           // [P], aligned
  W* total;          // [P]: the sum of beta, which the bias follows
  const W* present;  // [P]: 1 where there is a lane, else 0
  Index n_lanes;
  const WideTable<W, P>& table;
  const Samples& samples;
  W rho;
  W squared;  // 1 or 0
  const Order& order;
  double* gap;    // [P] sums
  double* loss;   // [P]
  double* moved;  // [P]
};

template <int P, class Row, class W>
ORDSVM_INLINE void score(Lanes<W, P>& result, const Row& row, const W* weights) {
  Lanes<W, P> sums[4] = {};
  const auto add = [&](Lanes<W, P>& sum, Index p) __attribute__((always_inline)) {
    Lanes<W, P> weight;
    load(weight, weights + row.column(p) * P);
    sum += static_cast<W>(row.value(p)) * weight;
  };
  Index p = 0;
  for (; p + 4 <= row.size; p += 4)
    for (int s = 0; s < 4; ++s) add(sums[s], p + s);
  for (; p < row.size; ++p) add(sums[0], p);
  result = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// weights += step * row, while the weights of the row to come are fetched.
template <int P, class Row, class W>
ORDSVM_INLINE void add_row(const Row& row, const Lanes<W, P>& step, W* weights, const Row& next) {
  const auto add = [&](Index p) __attribute__((always_inline)) {
    Lanes<W, P> weight;
    load(weight, weights + row.column(p) * P);
    weight += static_cast<W>(row.value(p)) * step;
    store(weights + row.column(p) * P, weight);
  };
  const Index both = std::min(row.size, next.size);
  Index p = 0;
  for (; p < both; ++p) {
    __builtin_prefetch(weights + next.column(p) * P);
    add(p);
  }
  for (; p < row.size; ++p) add(p);
}

template <class View, class W, int P>
ORDSVM_INLINE void visit_sample(const View& rows, const Group<W, P>& g, Place place, Index i, Index next,
                                Lanes<W, P>& gap, Lanes<W, P>& loss, Lanes<W, P>& moved) {
  using V = Lanes<W, P>;
  const V zero = {};
  const auto row = row_of(rows, i);
  const Index sample = place.sample(i);
  const auto& entry = g.table.entries[g.samples.label[sample]];
  W* const at = g.beta + sample * g.n_lanes;
  V lower, upper, offset, epsilon, cap, ridge, loaded, present, bias, total, slope;
  load(lower, entry.lower), load(upper, entry.upper), load(offset, entry.offset), load(epsilon, entry.epsilon);
  load(cap, entry.cap), load(ridge, entry.ridge), load(loaded, at);
  load(bias, g.bias), load(total, g.total), load(present, g.present);
  const V beta = loaded * present, others = loaded - beta;
  if (!g.samples.weight.empty()) {
    const W weight = static_cast<W>(g.samples.weight[sample]);
    if (weight == 0) return;
    if (g.squared == 0) lower *= weight, upper *= weight;
    cap *= weight, ridge /= weight;
  }
  if (!g.samples.target.empty()) offset += static_cast<W>(g.samples.target[sample]);
  score<P>(slope, row, g.weights);
  slope += bias - offset;

  V below, above, size_before, size_after;
  larger(below, zero, static_cast<V>(-slope - epsilon));  // how far the score is too low, and too high
  larger(above, zero, static_cast<V>(slope - epsilon));
  below = upper > zero ? below : zero;
  above = lower < zero ? above : zero;
  const V error = below + above, one = zero + 1;
  const V lost = cap * error * (one + g.squared * (error - one));
  larger(size_before, beta, static_cast<V>(-beta));
  loss += lost;
  gap += lost + beta * slope + epsilon * size_before + static_cast<W>(0.5) * ridge * beta * beta;

  const V gradient = slope + ridge * beta;
  const V curvature = ridge + (static_cast<W>(g.samples.norm[sample]) + g.rho);
  const W least = static_cast<W>(1e-20);  // without a bias, a row of zeros, or nearly so, goes to a bound
  const V inverse = one / (curvature > least ? curvature : zero + least);
  const V wanted = beta - gradient * inverse, threshold = epsilon * inverse;
  V target = wanted - threshold;  // soft threshold, then the box
  larger(target, zero, target);
  const V fallen = wanted + threshold;
  target += fallen < zero ? fallen : zero;
  target = target < lower ? lower : target;
  target = target > upper ? upper : target;
  const V step = target - beta;
  if (!any(step)) return;
  store(at, static_cast<V>(target + others));
  larger(size_after, target, static_cast<V>(-target));
  moved += step * gradient + static_cast<W>(0.5) * curvature * step * step + epsilon * (size_after - size_before);
  bias += g.rho * step;
  total += step;
  store(g.bias, bias), store(g.total, total);
  add_row<P>(row, step, g.weights, row_of(rows, next));
}

template <class View, class W, int P>
ORDSVM_INLINE void visit_rows(const View& rows, const Group<W, P>& g, Place place, Index from, Index to) {
  using V = Lanes<W, P>;
  double* const sums[3] = {g.gap, g.loss, g.moved};
  for (Index block = from; block < to; ++block) {
    V parts[3] = {};
    const Index last = g.order.last(block);
    const Index then = block + 1 < to ? g.order.first(block + 1) : g.order.first(block);
    for (Index i = g.order.first(block); i < last; ++i) {
      row_of(rows, i + 2 < last ? i + 2 : then).prefetch();
      visit_sample(rows, g, place, i, i + 1 < last ? i + 1 : then, parts[0], parts[1], parts[2]);
    }
    for (int s = 0; s < 3; ++s) {
      W flat[P];
      std::memcpy(flat, &parts[s], sizeof flat);
      for (int l = 0; l < P; ++l) sums[s][l] += static_cast<double>(flat[l]);
    }
  }
}

// One function for every kind of rows, precision and number of lanes, each for three instruction sets.
#define ORDSVM_VISIT(VIEW, W, P)                                                                          \
  ORDSVM_DISPATCH void visit(const VIEW& rows, const Group<W, P>& g, Place place, Index from, Index to) { \
    visit_rows(rows, g, place, from, to);                                                                 \
  }
#define ORDSVM_VISIT_LANES(VIEW, W) ORDSVM_VISIT(VIEW, W, 1) ORDSVM_VISIT(VIEW, W, 4) ORDSVM_VISIT(VIEW, W, 8)
#define ORDSVM_VISIT_BOTH(VIEW) \
  ORDSVM_VISIT_LANES(VIEW, float) ORDSVM_VISIT(VIEW, float, 16) ORDSVM_VISIT_LANES(VIEW, double)
ORDSVM_VISIT_BOTH(CsrFloat)
ORDSVM_VISIT_BOTH(CsrFloatLong)
ORDSVM_VISIT_BOTH(CsrDouble)
ORDSVM_VISIT_BOTH(CsrDoubleLong)
ORDSVM_VISIT_BOTH(DenseView<float>)
ORDSVM_VISIT_BOTH(DenseView<double>)

/// Neighbouring lanes that one thread works on.
class LaneGroup {
 public:
  virtual ~LaneGroup() = default;
  virtual void visit(const Rows& rows, Place place, Index part, Index parts) = 0;
  virtual void catch_up(double share) = 0;
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
  WideGroup(const LaneTable& table, const Samples& samples, Index n_features, const Options& options,
            std::uint64_t seed)
      : table_(table, options.squared),
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
    const Group<W, P> group{weights_.data(), beta_.data(), bias_,    total_, present_, n_lanes_, table_,
                            samples_,        rho_,         squared_, order_, gap_,     loss_,    moved_};
    const Index from = order_.n_blocks() * part / parts, to = order_.n_blocks() * (part + 1) / parts;
    std::visit([&](const auto& view) { linear::visit(view, group, place, from, to); }, rows);
    seen_.add(order_.n_rows(from, to));
  }

  void catch_up(double share) override {
    const W way = std::min(W{1}, static_cast<W>(share) * rho_);
    for (int l = 0; l < P; ++l) bias_[l] += way * (total_[l] - bias_[l]);
  }

  void take_sums(Sums& sums) override {
    const double scale = seen_.take_scale();
    for (int l = 0; l < P; ++l) {
      sums.gap += scale * std::exchange(gap_[l], 0.0);
      sums.loss += scale * std::exchange(loss_[l], 0.0);
      sums.moved += std::exchange(moved_[l], 0.0);
    }
    if (rho_ == 0) return;
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
            load(beta, at), load(present, present_);
            beta *= present;
            const auto row = row_of(view, i);
            if (any(beta)) add_row<P>(row, beta, weights_.data(), row);
          }
        },
        rows);
    for (int l = 0; l < P; ++l) total_[l] += static_cast<W>(total[l]);
  }

  void set_weights(const double* weights, Index stride, const double* sums) override {
    for (Index j = 0; j < n_features_; ++j) std::copy_n(weights + j * stride, n_lanes_, weights_.data() + j * P);
    std::copy_n(sums, n_lanes_, total_);
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

  WideTable<W, P> table_;
  Samples samples_;
  W rho_, squared_;
  Index n_features_, n_lanes_;
  Order order_;
  Buffer<W> weights_, beta_;
  alignas(64) W bias_[P] = {}, total_[P] = {}, present_[P] = {};
  double gap_[P] = {}, loss_[P] = {}, moved_[P] = {};
  Seen seen_;
};

std::unique_ptr<LaneGroup> make_group(const LaneTable& table, const Samples& samples, Index n_features,
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
  LaneMachine(const LaneTable& table, const Samples& samples, Index n_features, const Options& options)
      : Machine(n_features, table.n_lanes), table_(table), samples_(samples), options_(options) {
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
      groups_[g]->set_weights(weights.data() + begin_[g], table_.n_lanes, sums.data() + begin_[g]);
  }
  std::vector<double> biases() const override {
    std::vector<double> bias(table_.n_lanes);
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g]->get_biases(bias.data() + begin_[g]);
    return bias;
  }
  void set_biases(std::span<const double> values) override {
    if (!options_.intercept) return;
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g]->set_biases(values.data() + begin_[g]);
  }
  Index n_variables() const override { return table_.n_lanes; }
  void get_variables(Index i, double* out) const override { get_beta(i, out); }
  void set_variables(Index i, const double* values) override {
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
    for (Index l = 0; l < table_.n_lanes; ++l) {
      const auto [lower, upper] = box(i, l);
      out[l] = std::clamp(out[l], lower, upper);
    }
  }

  std::pair<double, double> box(Index i, Index l) const {
    constexpr double unbounded = std::numeric_limits<double>::infinity();
    const Index at = samples_.label[i] * table_.n_lanes + l;
    const double weight = samples_.weight_of(i), lower = weight * table_.lower[at], upper = weight * table_.upper[at];
    if (!options_.squared) return {lower, upper};
    return {lower < 0 ? -unbounded : 0.0, upper > 0 ? unbounded : 0.0};
  }

  void add_proof(Index i, const double* product, Sums& sums) const override {
    std::vector<double> variables(table_.n_lanes);
    get_beta(i, variables.data());
    const double weight = samples_.weight_of(i);
    for (Index l = 0; l < table_.n_lanes; ++l) {
      const Index at = samples_.label[i] * table_.n_lanes + l;
      const double lower = weight * table_.lower[at], upper = weight * table_.upper[at], epsilon = table_.epsilon[at];
      const double offset = table_.offset[at] + samples_.target_of(i), beta = variables[l];
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

  LaneTable table_;
  Samples samples_;
  Options options_;
  std::vector<Index> begin_;  // of the groups
  std::vector<std::unique_ptr<LaneGroup>> groups_;
  std::vector<double> bias_;  // while a proof is made
};

}  // namespace

std::unique_ptr<Machine> make_lanes(const LaneTable& table, const Samples& samples, Index n_features,
                                    const Options& options) {
  return std::make_unique<LaneMachine>(table, samples, n_features, options);
}

}  // namespace ordsvm::linear
