// Linear machines of either sort on small problems, driven through passes and proofs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "linear_data.hpp"

namespace ordsvm::linear {

using Numbers = std::vector<double>;

inline constexpr Index n_labels = 3;

inline Monitor unwatched() {
  return Monitor([](Index, Index) { return false; });
}

inline Monitor overdue(Monitor::Report report) {
  Monitor monitor(std::move(report));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  return monitor;
}

/// Passes and proofs of a machine over all rows at once.
struct Driver {
  Machine& machine;
  Rows rows;
  Index n;
  int n_threads = 1;

  void pass(int count, Index parts = 3, bool ahead = false) const {
    Monitor monitor = unwatched();
    for (int p = 0; p < count; ++p) machine.pass(rows, Place{0}, parts, 1.0, n_threads, monitor, ahead);
  }
  Certificate prove() const {
    Monitor monitor = unwatched();
    machine.begin_proof();
    machine.build(rows, 0);
    machine.score(rows, 0, n_threads, monitor);
    return machine.certificate();
  }
  void resume() const {
    machine.resume();
    machine.rebuild(rows, 0);
  }
  Numbers variables() const {
    Numbers values(n * machine.n_variables());
    for (Index i = 0; i < n; ++i) machine.get_variables(i, &values[i * machine.n_variables()]);
    return values;
  }
  void start(const Numbers& values) const {
    for (Index i = 0; i < n; ++i) machine.set_variables(i, &values[i * machine.n_variables()]);
    machine.rebuild(rows, 0);
  }
};

inline bool near(double a, double b, double share) {
  return std::abs(a - b) <= share * std::max({1.0, std::abs(a), std::abs(b)});
}

inline bool near(const Numbers& a, const Numbers& b, double share) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](double x, double y) { return near(x, y, share); });
}

/// A machine of either sort on some data, and the definitions it is compared with.
struct Setting {
  const LinearData& data;
  Options options;
  bool thresholds;
  LaneTable table;
  std::unique_ptr<Machine> machine;

  Setting(const LinearData& data, ordsvm::Random& random, bool thresholds, Index size, const Options& options)
      : data(data), options(options), thresholds(thresholds) {
    if (thresholds) {
      const ThresholdTable hinges = random_thresholds(random, n_labels, size);
      table = as_lanes(hinges);
      machine = make_thresholds(hinges, data.samples(false), data.d, options);
    } else {
      table = random_lanes(random, n_labels, size);
      machine = make_lanes(table, data.samples(true), data.d, options);
    }
  }

  Driver over(const Rows& rows, int n_threads = 1) const { return {*machine, rows, data.n, n_threads}; }

  void check(const Certificate& proof, const Numbers& variables) const {
    PlainProof plain(data, table, thresholds, options, !thresholds);
    Numbers bias = machine->biases();
    for (double& b : bias) b = thresholds ? -b : b;
    const Certificate expected = plain.of(variables, bias);
    CHECK(plain.in_box());
    CHECK(near(proof.primal, expected.primal, 1e-12));
    CHECK(near(proof.dual, expected.dual, 1e-12));
    CHECK(near(proof.violation, expected.violation, 1e-10));
    CHECK(proof.primal >= proof.dual - 1e-12);
  }
};

inline std::string name(const Options& options, bool thresholds, Index size, std::size_t kind) {
  return std::string(thresholds ? "thresholds " : "lanes ") + std::to_string(size) + ", rows " + std::to_string(kind) +
         (options.precise ? ", double" : ", float") + (options.squared ? ", squared" : "") +
         (options.intercept ? "" : ", no intercept");
}

}  // namespace ordsvm::linear
