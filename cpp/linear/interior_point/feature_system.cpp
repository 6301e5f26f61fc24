#include "linear/interior_point/feature_system.hpp"

#include <algorithm>
#include <atomic>

#include "linear/interior_point/feature_loops.hpp"
#include "parallel/team.hpp"

namespace ordsvm::linear {

/// Arrays of one thread. [column][row of the tile] unless said otherwise.
struct FeatureSystem::Tile {
  Tile(Index n_rows, Index length, Index width, Index n_columns, Index n_vectors)
      : n_rows(n_rows),
        rows(n_rows * length),
        scaled(n_rows * width),
        scores(2 * n_vectors * n_rows),
        weight(4 * n_columns * n_rows),
        hinge(12 * n_rows),
        places(n_rows) {}

  double* score(Index vector) { return scores.data() + 2 * vector * n_rows; }
  double* change(Index vector) { return score(vector) + n_rows; }
  /// v, beta, pull or push.
  double* sum(Index kind, Index column) { return weight.data() + (4 * column + kind) * n_rows; }
  double* field(Index number) { return hinge.data() + number * n_rows; }

  Index n_rows;
  Buffer<double> rows;    // [row][feature]
  Buffer<double> scaled;  // [row][feature * v, then what is multiplied by the features]
  Buffer<double> scores, weight, hinge;
  std::vector<Index> places;
};

namespace {

enum Field { signs, offsets, caps, own_scores, own_changes, froms, tos, own_sums };  // own_sums: four of them
enum Kind { weights, betas, pulls, pushes };

constexpr Index tile_bytes = 256 << 10;    // of rows as doubles: they and their scaled copy stay in the second cache
constexpr Index given_rows_of_tile = 256;  // where scores are given
constexpr Index rows_between_looks = 1 << 14;  // at the clock
constexpr double work_of_a_thread = 1e6;       // products: less is done before threads have started

template <class T>
void copy_row(const DenseRow<T>& row, double* to) {
  for (Index j = 0; j < row.size; ++j) to[j] = row.value(j);
}

template <class T, class I>
void copy_row(const SparseRow<T, I>& row, double* to) {
  for (Index p = 0; p < row.size; ++p) to[row.column(p)] += row.value(p);
}

void add_to(std::vector<double>& sum, const std::vector<double>& other) {
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += other[j];
}

}  // namespace

FeatureSystem::FeatureSystem(HingeColumns hinges, SampleData samples, SystemShape shape, int n_threads)
    : hinges_(std::move(hinges)),
      samples_(samples),
      shape_(shape),
      n_threads_(n_threads),
      alpha_{Buffer<double>((hinges_.n_columns + hinges_.n_second) * n_samples()),
             Buffer<double>((hinges_.n_columns + hinges_.n_second) * n_samples())},
      current_(n_vectors(), 0) {}

Index FeatureSystem::rows_of_tile() const {
  const Index fits = tile_bytes / static_cast<Index>(sizeof(double)) / padded(length());
  return std::clamp<Index>(fits / 8 * 8, 32, 256);
}

std::vector<SystemSums> FeatureSystem::empty_sums() const {
  const Index panel_rows = (length() + 3) / 4 * 4;
  return std::vector<SystemSums>(n_vectors(), {std::vector<double>(panel_rows * width()),
                                               std::vector<double>(shape_.has_thresholds ? 4 * n_columns() : 0),
                                               {}});
}

void FeatureSystem::begin(Direction direction) {
  // Rows of a tile end with zeros, and so do the weights that they are multiplied by.
  const auto pad = [&](const std::vector<double>& values) {
    std::vector<double> out(n_vectors() * padded(length()));
    for (Index vector = 0; vector < n_vectors(); ++vector)
      std::copy_n(values.data() + vector * length(), length(), out.data() + vector * padded(length()));
    return out;
  };
  direction_ = std::move(direction);
  direction_.weights = pad(direction_.weights);
  direction_.change = pad(direction_.change);
  sums_ = empty_sums();
}

bool FeatureSystem::add(const Rows& rows, Index first, Monitor& monitor) {
  const Index n_rows = count(rows);
  const double work = static_cast<double>(n_rows) * length() * (length() + 20) * n_vectors();
  const int team = static_cast<int>(std::clamp(work / work_of_a_thread, 1.0, static_cast<double>(n_threads_)));
  std::vector<std::vector<SystemSums>> parts(team);
  std::atomic<bool> stop = false;
  const auto work_on = [&](int t, const auto& enough) {
    parts[t] = empty_sums();
    Tile tile(rows_of_tile(), padded(length()), width(), n_columns(), n_vectors());
    const Index end = n_rows * (t + 1) / team;
    for (Index begin = n_rows * t / team; begin < end && !enough(); begin += rows_between_looks)
      std::visit(
          [&](const auto& view) {
            add_rows(view, first, begin, std::min(end, begin + rows_between_looks), tile, parts[t]);
          },
          rows);
  };
  const auto watch = [&] { return monitor.stop_now(0, 0); };
  if (team == 1)
    work_on(0, watch);
  else
    run_watched(team, stop, work_on, watch);
  for (const auto& part : parts)
    for (Index vector = 0; vector < n_vectors(); ++vector) {
      add_to(sums_[vector].panel, part[vector].panel);
      add_to(sums_[vector].columns, part[vector].columns);
      sums_[vector].hinges.add(part[vector].hinges);
    }
  reads_ += n_rows;
  return !monitor.stopped();
}

template <class View>
void FeatureSystem::add_rows(const View& view, Index first, Index begin, Index end, Tile& tile,
                             std::vector<SystemSums>& sums) {
  const Index stride = padded(length());
  for (Index start = begin; start < end; start += tile.n_rows) {
    const Index count = std::min(tile.n_rows, end - start);
    std::fill_n(tile.rows.data(), count * stride, 0.0);
    for (Index t = 0; t < count; ++t) {
      double* const row = tile.rows.data() + t * stride;
      copy_row(row_of(view, start + t), row);
      if (shape_.appends_one) row[shape_.n_features] = 1.0;
    }
    step_tile(tile, first + start, count, sums);
  }
}

void FeatureSystem::step_tile(Tile& tile, Index sample, Index count, std::vector<SystemSums>& sums) {
  const Index stride = padded(length());
  for (Index vector = 0; vector < n_vectors(); ++vector) {
    multiply_rows(tile.rows.data(), direction_.weights.data() + vector * stride, stride, count, tile.score(vector));
    multiply_rows(tile.rows.data(), direction_.change.data() + vector * stride, stride, count, tile.change(vector));
  }
  step_columns(tile, sample, count, sums);
  for (Index vector = 0; vector < n_vectors(); ++vector) add_vector(tile, vector, count, sums[vector]);
}

std::vector<double> FeatureSystem::step_rows(Index first, Index n_rows, const double* scores, const double* changes) {
  std::vector<double> out(4 * n_columns() * n_rows);
  Tile tile(given_rows_of_tile, 0, 0, n_columns(), n_vectors());
  for (Index start = 0; start < n_rows; start += tile.n_rows) {
    const Index count = std::min(tile.n_rows, n_rows - start);
    for (Index vector = 0; vector < n_vectors(); ++vector)
      for (Index t = 0; t < count; ++t) {
        tile.score(vector)[t] = scores[(start + t) * n_vectors() + vector];
        tile.change(vector)[t] = changes[(start + t) * n_vectors() + vector];
      }
    step_columns(tile, first + start, count, sums_);
    for (Index kind = 0; kind < 4; ++kind)
      for (Index column = 0; column < n_columns(); ++column)
        std::copy_n(tile.sum(kind, column), count, out.data() + (kind * n_columns() + column) * n_rows + start);
  }
  return out;
}

/// All hinges of the rows of a tile, whose scores are there.
void FeatureSystem::step_columns(Tile& tile, Index sample, Index count, std::vector<SystemSums>& sums) {
  std::fill_n(tile.weight.data(), tile.weight.size(), 0.0);
  for (Index column = 0; column < n_columns(); ++column) {
    HingeSums& hinges = sums[vector_of(column)].hinges;
    step_column(tile, column, sample, count, hinges);
    if (hinges_.n_second > 0) {
      step_second(tile, column, sample, count, hinges);
      hinges.linear += linear_part(column, sample, count);
    }
  }
}

/// The first hinges of a column.
void FeatureSystem::step_column(Tile& tile, Index column, Index sample, Index count, HingeSums& sums) {
  const Index vector = vector_of(column), at = column * hinges_.n_labels;
  const bool which = current_[vector];
  double *const sign = tile.field(signs), *const offset = tile.field(offsets), *const cap = tile.field(caps);
  for (Index t = 0; t < count; ++t) {
    const Index entry = at + samples_.label[sample + t];
    sign[t] = hinges_.sign[entry], offset[t] = hinges_.offset[entry], cap[t] = hinges_.cap[entry];
  }
  if (!samples_.weight.empty())
    for (Index t = 0; t < count; ++t) cap[t] *= samples_.weight[sample + t];
  if (!samples_.target.empty())
    for (Index t = 0; t < count; ++t) offset[t] += sign[t] * samples_.target[sample + t];
  const double *score = tile.score(vector), *change = tile.change(vector);
  if (shape_.has_thresholds) {
    double *const own = tile.field(own_scores), *const own_change = tile.field(own_changes);
    for (Index t = 0; t < count; ++t) {
      own[t] = score[t] - direction_.thresholds[column];
      own_change[t] = change[t] - direction_.threshold_change[column];
    }
    score = own, change = own_change;
  }
  const HingeTile hinges{sign,
                         offset,
                         cap,
                         score,
                         change,
                         alpha(which, column) + sample,
                         alpha(!which, column) + sample,
                         tile.sum(weights, column),
                         tile.sum(pulls, column),
                         tile.sum(pushes, column),
                         tile.sum(betas, column)};
  HingeSums own = step(hinges, count, direction_.steps[vector], shape_.is_squared);
  if (hinges_.n_second > 0) own.linear = 0.0;  // see linear_part
  sums.add(own);
}

/// The second ones, gathered from the rows that have one; they are of weight vectors, not of thresholds.
void FeatureSystem::step_second(Tile& tile, Index column, Index sample, Index count, HingeSums& sums) {
  const Index at = column * hinges_.n_labels, second = n_columns() * n_samples();
  const bool which = current_[column];
  Index found = 0;
  for (Index t = 0; t < count; ++t)
    if (hinges_.second_place[at + samples_.label[sample + t]] >= 0) tile.places[found++] = t;
  if (found == 0) return;
  const auto alpha_at = [&](Index place) {
    const Index label = samples_.label[sample + place];
    return second + (sample + place) * hinges_.n_second + hinges_.second_place[at + label];
  };
  for (Index p = 0; p < found; ++p) {
    const Index t = tile.places[p], entry = at + samples_.label[sample + t];
    tile.field(signs)[p] = -1.0;
    tile.field(offsets)[p] =
        hinges_.second_offset[entry] - (samples_.target.empty() ? 0.0 : samples_.target[sample + t]);
    tile.field(caps)[p] = hinges_.second_cap[entry] * (samples_.weight.empty() ? 1.0 : samples_.weight[sample + t]);
    tile.field(own_scores)[p] = tile.score(column)[t];
    tile.field(own_changes)[p] = tile.change(column)[t];
    tile.field(froms)[p] = alpha_[which].data()[alpha_at(t)];
  }
  std::fill_n(tile.field(own_sums), 4 * tile.n_rows, 0.0);
  const auto own = [&](Kind kind) { return tile.field(own_sums + static_cast<Index>(kind)); };
  const HingeTile hinges{tile.field(signs),
                         tile.field(offsets),
                         tile.field(caps),
                         tile.field(own_scores),
                         tile.field(own_changes),
                         tile.field(froms),
                         tile.field(tos),
                         own(weights),
                         own(pulls),
                         own(pushes),
                         own(betas)};
  HingeSums sums_of_second = step(hinges, found, direction_.steps[column], shape_.is_squared);
  sums_of_second.linear = 0.0;
  sums.add(sums_of_second);
  for (Index p = 0; p < found; ++p) {
    const Index t = tile.places[p];
    alpha_[!which].data()[alpha_at(t)] = tile.field(tos)[p];
    for (const Kind kind : {weights, pulls, pushes}) tile.sum(kind, column)[t] += own(kind)[p];
    tile.sum(betas, column)[t] = beta_of(!which, sample + t, column);
  }
}

/// The dual's part that is linear in alpha, and its bend, of a column where samples may have two hinges. A lane has one
/// dual variable for both, their difference beta: what they have in common would round away more than the gap.
double FeatureSystem::linear_part(Index column, Index sample, Index count) const {
  const bool next = !current_[vector_of(column)];
  double total = 0.0;
  for (Index i = sample; i < sample + count; ++i) {
    const Index entry = column * hinges_.n_labels + samples_.label[i];
    const double beta = beta_of(next, i, column), size = std::fabs(beta), sign = hinges_.sign[entry];
    const double target = samples_.target.empty() ? 0.0 : samples_.target[i];
    const bool is_second = hinges_.second_place[entry] >= 0 && sign * beta < 0.0;
    const double offset = is_second ? hinges_.second_offset[entry] - target : hinges_.offset[entry] + sign * target;
    const double cap = hinges_.cap[entry] * (samples_.weight.empty() ? 1.0 : samples_.weight[i]);
    if (cap > least_cap) total += size * (offset - (shape_.is_squared ? 0.25 * size / cap : 0.0));
  }
  return total;
}

/// sign * alpha, summed over the hinges of a sample in a column, of the accepted pass or of the present one.
double FeatureSystem::beta_of(bool which, Index i, Index column) const {
  const Index n = n_samples(), entry = column * hinges_.n_labels + samples_.label[i];
  const double weight = samples_.weight.empty() ? 1.0 : samples_.weight[i];
  const double* const kept = alpha_[which].data();
  const double first = hinges_.sign[entry] * alpha_of(kept[column * n + i], hinges_.cap[entry] * weight);
  const Index place = hinges_.n_second > 0 ? hinges_.second_place[entry] : -1;
  if (place < 0) return first;
  return first - alpha_of(kept[n_columns() * n + i * hinges_.n_second + place], hinges_.second_cap[entry] * weight);
}

double FeatureSystem::alpha_of(double kept, double cap) const {
  if (!(cap > least_cap)) return 0.0;
  return kept > 0.0 || shape_.is_squared ? kept : cap + kept;
}

/// What the tile adds to H and the right sides of a weight vector.
void FeatureSystem::add_vector(Tile& tile, Index vector, Index count, SystemSums& sums) {
  const Index stride = padded(length()), extra = first_extra(), row_width = width();
  const Index first = shape_.has_thresholds ? 0 : vector, n = shape_.has_thresholds ? n_columns() : 1;
  double* const total[] = {tile.field(0), tile.field(1), tile.field(2), tile.field(3)};
  for (Index kind = 0; kind < 4; ++kind) {
    std::copy_n(tile.sum(kind, first), count, total[kind]);
    for (Index column = first + 1; column < first + n; ++column) add_values(tile.sum(kind, column), count, total[kind]);
  }
  scale_rows(tile.rows.data(), total[weights], stride, count, tile.scaled.data(), row_width);
  double* to = tile.scaled.data() + extra;
  const auto append = [&](const double* values) {
    for (Index t = 0; t < count; ++t) to[t * row_width] = values[t];
    ++to;
  };
  if (shape_.has_thresholds)
    for (Index column = 0; column < n; ++column) append(tile.sum(weights, column));
  for (const Kind kind : {betas, pulls, pushes}) append(total[kind]);
  add_panel(tile.rows.data(), stride, tile.scaled.data(), row_width, length(), count, sums.panel.data());
  for (std::size_t at = 0; at < sums.columns.size(); ++at) sums.columns[at] += sum_of(tile.sum(at % 4, at / 4), count);
}

std::vector<double> FeatureSystem::beta() const {
  const Index m = n_columns();
  std::vector<double> out(n_samples() * m);
  for (Index i = 0; i < n_samples(); ++i)
    for (Index column = 0; column < m; ++column)
      out[i * m + column] = beta_of(static_cast<bool>(current_[vector_of(column)]), i, column);
  return out;
}

}  // namespace ordsvm::linear
