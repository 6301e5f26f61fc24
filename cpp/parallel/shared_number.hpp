// A number in an array that several threads read and write, in relaxed order: C++20 has such a reference, and libc++ from
// version 19 on. gcc and clang have the operations for every place in memory.
#pragma once

namespace ordsvm {

class SharedNumber {
 public:
  explicit SharedNumber(double& place) : place_(&place) {}

  double load() const {
    double value;
    __atomic_load(place_, &value, __ATOMIC_RELAXED);
    return value;
  }

  void store(double value) const { __atomic_store(place_, &value, __ATOMIC_RELAXED); }

  void add(double by) const {
    double before = load(), after = before + by;
    while (!__atomic_compare_exchange(place_, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      after = before + by;
  }

 private:
  double* place_;
};

}  // namespace ordsvm
