// Kernel machines for Python: hands arrays to the core and lets the interpreter breathe meanwhile.
#include <nanobind/stl/unique_ptr.h>

#include "bindings/arrays.hpp"
#include "bindings/block.hpp"
#include "bindings/full_kernel.hpp"
#include "bindings/linear.hpp"
#include "bindings/prediction.hpp"
#include "bindings/solve.hpp"
#include "kernels/tiles/part.hpp"
#include "kernels/tiles/product.hpp"
#include "solvers/async/asygcd.hpp"
#include "solvers/async/asyorgcd.hpp"
#include "solvers/gcd.hpp"
#include "solvers/parsmo/parsmo.hpp"
#include "solvers/smo.hpp"

namespace ordsvm {
namespace {

Table make_table(Vector<const SampleIndex> sample, Vector<const SampleIndex> threshold, Vector<const double> sign,
                 Vector<const double> offset, Vector<const double> cap, Index n_samples, Index n_thresholds,
                 Thresholds treatment) {
  Table table{sample, threshold, sign, offset, cap, {}};
  table.hinges = {span(sample), span(threshold), span(sign), span(offset), span(cap),
                  n_samples,    n_thresholds,    treatment,  {},           {}};
  table.hinges.index();
  return table;
}

/// Rows of K by a Python function: array of q indices -> float64 array of shape (q, n).
class CallableRows final : public RowSource {
 public:
  CallableRows(Vector<const double> diagonal, nb::callable function)
      : diagonal_(std::move(diagonal)), function_(std::move(function)) {}
  Index size() const override { return static_cast<Index>(diagonal_.size()); }
  double diagonal(Index i) const override { return diagonal_.data()[i]; }
  void row(Index i, std::span<float> out) const override { call({&i, 1}, out); }
  void row(Index i, std::span<double> out) const override { call({&i, 1}, out); }
  void rows(std::span<const Index> which, std::span<double> out) const override { call(which, out); }
  bool is_function() const override { return true; }
  nb::object& function() { return function_; }

 private:
  template <class T>
  void call(std::span<const Index> which, std::span<T> out) const {
    const nb::gil_scoped_acquire gil;
    nb::ndarray<nb::numpy, const Index, nb::ndim<1>> indices(which.data(), {which.size()}, nb::handle());
    const auto values = nb::cast<Matrix<double>>(function_(indices.cast(nb::rv_policy::copy)));
    if (values.shape(0) != which.size() || static_cast<Index>(values.shape(1)) != size())
      throw std::runtime_error("kernel rows have the wrong shape");
    std::transform(values.data(), values.data() + values.size(), out.data(),
                   [](double x) { return static_cast<T>(x); });
  }
  Vector<const double> diagonal_;
  nb::object function_;
};

/// The function of CallableRows may lead back to the rows: the garbage collector has to see it.
CallableRows* callable_rows(PyObject* self) {
  return nb::inst_ready(self) ? dynamic_cast<CallableRows*>(nb::inst_ptr<RowSource>(self)) : nullptr;
}

int traverse_rows(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (CallableRows* rows = callable_rows(self)) Py_VISIT(rows->function().ptr());
  return 0;
}

int clear_rows(PyObject* self) {
  if (CallableRows* rows = callable_rows(self)) rows->function() = nb::none();
  return 0;
}

PyType_Slot rows_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_rows)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_rows)},
                            {0, nullptr}};

Cache make_cache(const nb::object& source, std::size_t budget_bytes, bool double_rows) {
  const RowSource& rows = nb::cast<const RowSource&>(source);
  if (double_rows) return {std::make_unique<RowCache<double>>(rows, budget_bytes), source};
  return {std::make_unique<RowCache<float>>(rows, budget_bytes), source};
}

int traverse_cache(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Cache>(self)->source.ptr());
  return 0;
}

int clear_cache(PyObject* self) {
  Cache* cache = nb::inst_ptr<Cache>(self);
  cache->rows = std::unique_ptr<RowCache<float>>();
  cache->source = nb::none();
  return 0;
}

PyType_Slot cache_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_cache)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_cache)},
                             {0, nullptr}};

Outcome solve_smo(const Table& table, const Cache& cache, const Limits& limits, const LiveArrays& live,
                  const nb::object& watch, Selection selection) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    KernelState state(rows, table.hinges, variables);
    return Smo(table.hinges, state, variables, selection).run(limits, monitor);
  });
}

Outcome solve_parsmo(const Table& table, const Cache& cache, const Limits& limits, const LiveArrays& live,
                     const nb::object& watch, const ParsmoOptions& options) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    KernelState state(rows, table.hinges, variables);
    return Parsmo(table.hinges, state, variables, options).run(limits, monitor);
  });
}

Outcome solve_gcd(const Table& table, const Cache& cache, const Limits& limits, const LiveArrays& live,
                  const nb::object& watch) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    KernelState state(rows, table.hinges, variables);
    return Gcd(table.hinges, state, variables).run(limits, monitor);
  });
}

Outcome solve_asygcd(const Table& table, const Cache& cache, const Limits& limits, const LiveArrays& live,
                     const nb::object& watch, const Team& team) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    return AsyGcd(table.hinges, rows, variables, team).run(limits, monitor);
  });
}

Outcome solve_asyorgcd(const Table& table, const Cache& cache, const Limits& limits, const LiveArrays& live,
                       const nb::object& watch, const Team& team, Index max_inner_steps) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    return AsyOrgcd(table.hinges, rows, variables, team, max_inner_steps).run(limits, monitor);
  });
}

/// Calls visit(r, row) for rows of K, one by one, until watch says stop.
template <class Visit>
void for_cached_rows(const Cache& cache, const Vector<const Index>& which, const nb::object& watch, Visit visit) {
  Monitor monitor = monitor_by(watch);
  const nb::gil_scoped_release release;
  std::visit(
      [&](const auto& rows) {
        for (std::size_t r = 0; r < which.size() && !monitor.stop_now(0, rows->rows_computed()); ++r)
          visit(r, rows->pin(which.data()[r]).data());
      },
      cache.rows);
}

/// K[which][:, which] by cached rows; unfinished where watch says stop.
nb::ndarray<nb::numpy, double, nb::ndim<2>> cached_block(const Cache& cache, Vector<const Index> which,
                                                         const nb::object& watch) {
  std::vector<double> values(which.size() * which.size());
  for_cached_rows(cache, which, watch, [&](std::size_t r, const auto* row) {
    for (std::size_t c = 0; c < which.size(); ++c) values[r * which.size() + c] = row[which.data()[c]];
  });
  return to_numpy(std::move(values), which.size(), which.size());
}

/// K[:, which] @ weight by cached rows; unfinished where watch says stop.
Array cached_product(const Cache& cache, Vector<const Index> which, Vector<const double> weight,
                     const nb::object& watch) {
  std::vector<double> out(nb::cast<const RowSource&>(cache.source).size());
  for_cached_rows(cache, which, watch, [&](std::size_t r, const auto* row) {
    simd::add_row(out.data(), weight.data()[r], row, static_cast<Index>(out.size()));
  });
  return to_numpy(std::move(out));
}

/// K[which].
nb::ndarray<nb::numpy, double, nb::ndim<2>> rows_of(const RowSource& rows, Vector<const Index> which) {
  std::vector<double> values(which.size() * rows.size());
  rows.rows(span(which), values);
  return to_numpy(std::move(values), which.size(), rows.size());
}

/// K[np.ix_(rows, columns)].
nb::ndarray<nb::numpy, double, nb::ndim<2>> part_of(const RowSource& source, Vector<const Index> rows,
                                                    Vector<const Index> columns, int n_threads) {
  std::vector<double> out(rows.size() * columns.size());
  {
    const nb::gil_scoped_release release;
    Crew crew(n_threads);
    tiles::fill_part(source, span(rows), span(columns), out, crew);
  }
  return to_numpy(std::move(out), rows.size(), columns.size());
}

/// K @ beta; only a signal can interrupt it.
Array product_with(const RowSource& rows, Vector<const double> beta, int n_threads) {
  std::vector<double> out(rows.size());
  Monitor monitor = monitor_of_signals();
  {
    const nb::gil_scoped_release release;
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

void bind_problem(nb::module_& m) {
  nb::enum_<Thresholds>(m, "Thresholds")
      .value("none", Thresholds::none)
      .value("penalized", Thresholds::penalized)
      .value("free", Thresholds::free)
      .value("ordered", Thresholds::ordered);
  nb::class_<Table>(m, "Table");
  m.def("table", &make_table, "sample"_a, "threshold"_a, "sign"_a, "offset"_a, "cap"_a, nb::kw_only(), "n_samples"_a,
        "n_thresholds"_a, "treatment"_a);
}

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
      .def("suits_blocks", [](const RowSource& rows) { return tiles::is_positive_semidefinite(rows); })
      .def_prop_ro("is_function", &RowSource::is_function)
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
      [](Vector<const double> diagonal, nb::callable function) -> std::unique_ptr<RowSource> {
        return std::make_unique<CallableRows>(std::move(diagonal), std::move(function));
      },
      "diagonal"_a, "function"_a);
}

void bind_solvers(nb::module_& m) {
  nb::enum_<Status>(m, "Status")
      .value("converged", Status::converged)
      .value("max_iter", Status::max_iter)
      .value("stopped", Status::stopped)
      .value("imprecise", Status::imprecise)
      .value("near", Status::near);
  nb::enum_<Selection>(m, "Selection").value("mvp", Selection::mvp).value("second_order", Selection::second_order);
  nb::class_<Limits>(m, "Limits")
      .def(
          "__init__",
          [](Limits* self, double tol, Index max_steps, Index before) { new (self) Limits{tol, max_steps, before}; },
          "tol"_a, "max_steps"_a, "steps_before"_a = 0);
  nb::class_<Cache>(m, "Cache", nb::type_slots(cache_slots))
      .def("block", &cached_block, "which"_a, "watch"_a)
      .def("product", &cached_product, "which"_a, "weight"_a, "watch"_a)
      .def_prop_ro("rows_computed", [](const Cache& cache) {
        return std::visit([](const auto& rows) { return rows->rows_computed(); }, cache.rows);
      });
  m.def("cache", &make_cache, "rows"_a, "budget_bytes"_a, "double_rows"_a);
  nb::class_<LiveArrays>(m, "LiveArrays")
      .def(
          "__init__",
          [](LiveArrays* self, Vector<double> alpha, Vector<double> score, Vector<double> threshold,
             Vector<Index> active) { new (self) LiveArrays{alpha, score, threshold, active}; },
          "alpha"_a.noconvert(), "score"_a.noconvert(), "threshold"_a.noconvert(), "active"_a.noconvert());
  nb::class_<Outcome>(m, "Outcome")
      .def_ro("status", &Outcome::status)
      .def_ro("steps", &Outcome::steps)
      .def_ro("kernel_rows", &Outcome::kernel_rows);
  nb::enum_<Partition>(m, "Partition").value("sample", Partition::sample).value("threshold", Partition::threshold);
  nb::enum_<Sharing>(m, "Sharing").value("atomic", Sharing::atomic).value("log", Sharing::log);
  nb::class_<Team>(m, "Team").def(
      "__init__",
      [](Team* self, int n_threads, Partition partition, Sharing sharing, Index max_shrink_steps, double pace) {
        new (self) Team{n_threads, partition, sharing, max_shrink_steps, pace};
      },
      "n_threads"_a, "partition"_a, "sharing"_a, "max_shrink_steps"_a, "pace"_a);
  m.def("asygcd", &solve_asygcd, "table"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "team"_a);
  m.def("asyorgcd", &solve_asyorgcd, "table"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "team"_a,
        "max_inner_steps"_a);
  m.def("smo", &solve_smo, "table"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "selection"_a);
  nb::enum_<Others>(m, "Others").value("light", Others::light).value("cache", Others::cache);
  nb::class_<ParsmoOptions>(m, "ParsmoOptions")
      .def(
          "__init__",
          [](ParsmoOptions* self, Others others, Index n_pairs, double epsilon, bool gathering, int n_threads) {
            new (self) ParsmoOptions{others, n_pairs, epsilon, gathering, n_threads};
          },
          "others"_a, "n_pairs"_a, "epsilon"_a, "gathering"_a, "n_threads"_a);
  m.def("parsmo", &solve_parsmo, "table"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "options"_a);
  m.def("gcd", &solve_gcd, "table"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a);
}

}  // namespace
}  // namespace ordsvm

NB_MODULE(_core, m) {
  m.doc() = "The native core of ordsvm: kernel rows and solvers on hinge tables.";
  m.attr("compiler") = __VERSION__;
  ordsvm::bind_problem(m);
  ordsvm::bind_kernels(m);
  ordsvm::bind_solvers(m);
  ordsvm::block::bind_block(m);
  ordsvm::linear::bind_linear(m);
  ordsvm::linear::bind_dcd(m);
  ordsvm::prediction::bind_prediction(m);
  ordsvm::search::bind_search(m);
}
