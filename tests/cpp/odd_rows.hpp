// Rows of K that take their time, or fail.
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "kernels/row_source.hpp"

namespace ordsvm {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Rows that take their time, in single or in double precision. Counts those in double.
class SlowRows final : public RowSource {
 public:
  SlowRows(const RowSource& rows, microseconds single_pause, microseconds double_pause)
      : rows_(rows), single_pause_(single_pause), double_pause_(double_pause) {}
  Index size() const override { return rows_.size(); }
  double diagonal(Index i) const override { return rows_.diagonal(i); }
  void row(Index i, std::span<float> out) const override {
    std::this_thread::sleep_for(single_pause_);
    rows_.row(i, out);
  }
  void row(Index i, std::span<double> out) const override {
    ++made_in_double_;
    std::this_thread::sleep_for(double_pause_);
    rows_.row(i, out);
  }
  Index made_in_double() const { return made_in_double_; }

 private:
  const RowSource& rows_;
  microseconds single_pause_, double_pause_;
  mutable std::atomic<Index> made_in_double_ = 0;
};

/// Some rows in single precision, then none any more.
class BrokenRows final : public RowSource {
 public:
  BrokenRows(const RowSource& rows, int count) : rows_(rows), left_(count) {}
  Index size() const override { return rows_.size(); }
  double diagonal(Index i) const override { return rows_.diagonal(i); }
  void row(Index i, std::span<float> out) const override {
    if (left_-- <= 0) throw std::runtime_error("no row");
    rows_.row(i, out);
  }
  void row(Index i, std::span<double> out) const override { rows_.row(i, out); }

 private:
  const RowSource& rows_;
  mutable std::atomic<int> left_;
};

}  // namespace ordsvm
