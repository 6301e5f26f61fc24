// Kernels and sources of kernel rows for Python.
#include <nanobind/stl/unique_ptr.h>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "kernels/tiles/part.hpp"
#include "kernels/tiles/product.hpp"
#include "kernels/tiles/value_bound.hpp"
#include "optimality/score_state.hpp"

namespace ordsvm {
namespace {

/// Rows of K by a Python function: array of q indices -> float64 array of shape (q, n).
class CallableRows final : public RowSource {
 public:
  CallableRows(Vector<const double> diagonal, nb::callable callable)
      : diagonal_(std::move(diagonal)), callable_(std::move(callable)) {}
  Index size() const override { return static_cast<Index>(diagonal_.size()); }
  double diagonal(Index i) const override { return diagonal_.data()[i]; }
  void row(Index i, std::span<float> out) const override { call({&i, 1}, out); }
  void row(Index i, std::span<double> out) const override { call({&i, 1}, out); }
  void rows(std::span<const Index> which, std::span<double> out) const override { call(which, out); }
  bool is_callable() const override { return true; }
  nb::object& callable() { return callable_; }

 private:
  template <class T>
  void call(std::span<const Index> which, std::span<T> out) const {
    const Locked locked;
    nb::ndarray<nb::numpy, const Index, nb::ndim<1>> indices(which.data(), {which.size()}, nb::handle());
    const auto values = nb::cast<Matrix<double>>(callable_(indices.cast(nb::rv_policy::copy)));
    if (values.shape(0) != which.size() || static_cast<Index>(values.shape(1)) != size())
      throw std::runtime_error("kernel rows have the wrong shape");
    std::transform(values.data(), values.data() + values.size(), out.data(),
                   [](double x) { return static_cast<T>(x); });
  }
  Vector<const double> diagonal_;
  nb::object callable_;
};

/// The function of CallableRows may lead back to the rows: the garbage collector has to see it.
CallableRows* callable_rows(PyObject* self) {
  return nb::inst_ready(self) ? dynamic_cast<CallableRows*>(nb::inst_ptr<RowSource>(self)) : nullptr;
}

int traverse_rows(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (CallableRows* rows = callable_rows(self)) Py_VISIT(rows->callable().ptr());
  return 0;
}

int clear_rows(PyObject* self) {
  if (CallableRows* rows = callable_rows(self)) rows->callable() = nb::none();
  return 0;
}

PyType_Slot rows_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_rows)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_rows)},
                            {0, nullptr}};

/// K[which].
nb::ndarray<nb::numpy, double, nb::ndim<2>> rows_of(const RowSource& rows, Vector<const Index> which) {
  std::vector<double> values(which.size() * rows.size());
  {
    const Unlocked unlocked;
    rows.rows(span(which), values);
  }
  return to_numpy(std::move(values), which.size(), rows.size());
}

/// K[np.ix_(rows, columns)].
nb::ndarray<nb::numpy, double, nb::ndim<2>> part_of(const RowSource& source, Vector<const Index> rows,
                                                    Vector<const Index> columns, int n_threads) {
  std::vector<double> out(rows.size() * columns.size());
  {
    const Unlocked unlocked;
    ThreadPool pool(n_threads);
    tiles::fill_part(source, span(rows), span(columns), out, pool);
  }
  return to_numpy(std::move(out), rows.size(), columns.size());
}

/// K @ beta; only a signal can interrupt it.
Array product_with(const RowSource& rows, Vector<const double> beta, int n_threads) {
  std::vector<double> out(rows.size());
  Monitor monitor = monitor_of_signals();
  {
    const Unlocked unlocked;
    product(rows, span(beta), out, monitor, 0, 0, n_threads);
  }
  return to_numpy(std::move(out));
}

template <class T>
void bind_dense(nb::module_& m) {
  m.def(
      "dense_rows", [](const Kernel& kernel, Matrix<T> data) { return make_rows(kernel, view(data)); }, "kernel"_a,
      "data"_a.noconvert());
  m.def(
      "precomputed_rows", [](Matrix<T> matrix) { return make_precomputed(view(matrix)); }, "matrix"_a.noconvert(),
      nb::keep_alive<0, 1>());
}

template <class T, class I>
void bind_csr(nb::module_& m) {
  m.def(
      "csr_rows",
      [](const Kernel& kernel, Vector<const T> values, Vector<const I> columns, Vector<const I> starts,
         Index n_columns) {
        const Index n_rows = static_cast<Index>(starts.size()) - 1;
        return make_rows(kernel, CsrView<T, I>{values.data(), columns.data(), starts.data(), n_rows, n_columns});
      },
      "kernel"_a, "values"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(), "n_columns"_a,
      nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>());
}

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::enum_<KernelKind>(m, "KernelKind")
      .value("linear", KernelKind::linear)
      .value("rbf", KernelKind::rbf)
      .value("polynomial", KernelKind::polynomial)
      .value("sigmoid", KernelKind::sigmoid)
      .value("laplacian", KernelKind::laplacian);
  nb::class_<Kernel>(m, "Kernel")
      .def(
          "__init__",
          [](Kernel* self, KernelKind kind, double gamma, double coef0, double degree) {
            new (self) Kernel{kind, gamma, coef0, degree};
          },
          "kind"_a, "gamma"_a = 1.0, "coef0"_a = 0.0, "degree"_a = 3.0);
  nb::class_<RowSource>(m, "Rows", nb::type_slots(rows_slots))
      .def("__len__", &RowSource::size)
      .def("diagonal", [](const RowSource& rows) { return to_numpy(diagonal_of<double>(rows)); })
      .def("roundings", [](const RowSource& rows) { return tiles::roundings(rows); })
      .def_prop_ro("is_callable", &RowSource::is_callable)
      .def("rows", &rows_of, "which"_a)
      .def("product", &product_with, "beta"_a, "n_threads"_a = 1)
      .def("part", &part_of, "rows"_a, "columns"_a, "n_threads"_a = 1);
  bind_dense<float>(m);
  bind_dense<double>(m);
  bind_csr<float, std::int32_t>(m);
  bind_csr<float, std::int64_t>(m);
  bind_csr<double, std::int32_t>(m);
  bind_csr<double, std::int64_t>(m);
  m.def(
      "callable_rows",
      [](Vector<const double> diagonal, nb::callable callable) -> std::unique_ptr<RowSource> {
        return std::make_unique<CallableRows>(std::move(diagonal), std::move(callable));
      },
      "diagonal"_a, "function"_a);
}

}  // namespace ordsvm
