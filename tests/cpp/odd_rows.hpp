// Rows of K that take their time, or fail.
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "kernels.hpp"

namespace ordsvm {

using std::chrono::milliseconds;

/// Rows that take their time, in single or in double precision.
class SlowRows final : public RowSource {
 public:
  SlowRows(const RowSource& rows, milliseconds single_pause, milliseconds double_pause)
      : rows_(rows), single_pause_(single_pause), double_pause_(double_pause) {}
  Index size() const override { return rows_.size(); }
  double diagonal(Index i) const override { return rows_.diagonal(i); }
  void row(Index i, std::span<float> out) const override {
    std::this_thread::sleep_for(single_pause_);
    rows_.row(i, out);
  }
  void row(Index i, std::span<double> out) const override {
    asked_for_double_ = true;
    std::this_thread::sleep_for(double_pause_);
    rows_.row(i, out);
  }
  bool asked_for_double() const { return asked_for_double_; }

 private:
  const RowSource& rows_;
  milliseconds single_pause_, double_pause_;
  mutable std::atomic<bool> asked_for_double_ = false;
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
