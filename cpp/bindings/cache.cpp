// The cache of kernel rows for Python.
#include "bindings/bind.hpp"
#include "bindings/solve.hpp"
#include "simd/loops.hpp"

namespace ordsvm {
namespace {

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

/// Calls visit(r, row) for rows of K, one by one, until watch stops it.
template <class Visit>
void for_cached_rows(const Cache& cache, const Vector<const Index>& which, const nb::object& watch, Visit visit) {
  Monitor monitor = monitor_by(watch);
  const Unlocked unlocked;
  std::visit(
      [&](const auto& rows) {
        for (std::size_t r = 0; r < which.size() && !monitor.stop_now(0, rows->rows_computed()); ++r)
          visit(r, rows->pin(which.data()[r]).data());
      },
      cache.rows);
}

/// K[which][:, which] by cached rows; incomplete where watch stops it.
nb::ndarray<nb::numpy, double, nb::ndim<2>> cached_part(const Cache& cache, Vector<const Index> which,
                                                        const nb::object& watch) {
  std::vector<double> values(which.size() * which.size());
  for_cached_rows(cache, which, watch, [&](std::size_t r, const auto* row) {
    for (std::size_t c = 0; c < which.size(); ++c) values[r * which.size() + c] = row[which.data()[c]];
  });
  return to_numpy(std::move(values), which.size(), which.size());
}

/// K[:, which] @ weight by cached rows; incomplete where watch stops it.
Array cached_product(const Cache& cache, Vector<const Index> which, Vector<const double> weight,
                     const nb::object& watch) {
  std::vector<double> out(nb::cast<const RowSource&>(cache.source).size());
  for_cached_rows(cache, which, watch, [&](std::size_t r, const auto* row) {
    simd::add_row(out.data(), weight.data()[r], row, static_cast<Index>(out.size()));
  });
  return to_numpy(std::move(out));
}

}  // namespace

void bind_cache(nb::module_& m) {
  nb::class_<Cache>(m, "Cache", nb::type_slots(cache_slots))
      .def("block", &cached_part, "which"_a, "watch"_a)
      .def("product", &cached_product, "which"_a, "weight"_a, "watch"_a)
      .def_prop_ro("rows_computed", [](const Cache& cache) {
        return std::visit([](const auto& rows) { return rows->rows_computed(); }, cache.rows);
      });
  m.def("cache", &make_cache, "rows"_a, "budget_bytes"_a, "double_rows"_a);
}

}  // namespace ordsvm
