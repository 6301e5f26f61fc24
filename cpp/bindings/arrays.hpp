// What all bindings share: arrays, and a monitor by a Python object.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "bindings/calls.hpp"
#include "kernels/row_source.hpp"

namespace ordsvm {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

template <class T>
std::span<T> span(const Vector<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
DenseView<T> view(const Matrix<T>& array) {
  return {array.data(), static_cast<Index>(array.shape(0)), static_cast<Index>(array.shape(1))};
}

/// A monitor that calls a Python object: watch.report(steps, kernel_rows) -> stop?, watch.judge(tol, violation) -> tol
/// to go on with, watch.out_of_time() -> stop?. Signals come first, so that Ctrl-C works whatever the object does.
inline Monitor monitor_by(const nb::object& watch) {
  return Monitor(
      [watch](Index steps, Index kernel_rows) {
        const Locked locked;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return nb::cast<bool>(watch.attr("report")(steps, kernel_rows));
      },
      [watch](double tol, double violation) {
        const Locked locked;
        return nb::cast<double>(watch.attr("judge")(tol, violation));
      },
      [watch] {
        const Locked locked;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return nb::cast<bool>(watch.attr("out_of_time")());
      });
}

/// A monitor without a Python object: only a signal, such as Ctrl-C, can interrupt it.
inline Monitor monitor_of_signals() {
  return Monitor([](Index, Index) {
    const Locked locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return false;
  });
}

/// An array of this shape that takes the values over.
template <class... Size>
nb::ndarray<nb::numpy, double, nb::ndim<sizeof...(Size)>> to_numpy(std::vector<double>&& values, Size... shape) {
  auto* owned = new std::vector<double>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return {owned->data(), {static_cast<std::size_t>(shape)...}, owner};
}

inline Array to_numpy(std::vector<double>&& values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), size);
}

}  // namespace ordsvm
