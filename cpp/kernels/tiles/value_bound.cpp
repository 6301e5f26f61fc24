#include "kernels/tiles/value_bound.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/formula.hpp"
#include "kernels/tiles/samples.hpp"

namespace ordsvm::tiles {
namespace {

using simd::Reduction;

/// Features of a sample that are stored, at most.
Index longest_row(const RowSource& source) {
  const Index n_columns = source.features()->n_columns;
  std::vector<SampleIndex> columns(n_columns);
  std::vector<double> values(n_columns);
  Index longest = 0;
  for (Index i = 0; i < source.size(); ++i)
    longest = std::max(longest, source.nonzeros(i, columns.data(), values.data()));
  return longest;
}

/// What a sum of `terms` products, squares or differences is off by. Norms are summed in double and then rounded, so
/// that they are off by two roundings of float, or by those of their sum in double.
template <class T>
ReductionBound reduction_bound(const Features& features, Form form, double terms) {
  const Arithmetic in = Arithmetic::of<T>();
  const Reduction reduction = reduction_of(features.kernel.kind);
  const double norm = features.largest_norm * (1.0 + Arithmetic::of<double>().share(terms + 2.0));
  const double of_norm = sizeof(T) == sizeof(float) ? 2.0 : terms + 2.0;
  ReductionBound x{in, norm};
  if (reduction == Reduction::dot) {
    x.absolute = norm * in.share(terms + 2.0);
  } else if (reduction == Reduction::manhattan) {
    x.relative = form == Form::sparse ? 0.0 : in.share(terms + 1.0);
    x.absolute =
        2.0 * norm * (form == Form::sparse ? in.share(terms + of_norm + 6.0) : in.share(1.0) * (1.0 + x.relative));
  } else {
    x.relative = form == Form::differences ? in.share(terms + 3.0) : form == Form::norms ? in.share(1.0) : 0.0;
    const double sums = form == Form::differences ? 0.0 : form == Form::norms ? 2.0 : 4.0;
    x.absolute = sums * norm * in.share(terms + of_norm + 4.0);
    x.of_root = 2.0 * in.unit * std::sqrt(norm) + 3.0 * in.least * std::sqrt(terms);
  }
  x.absolute += 4.0 * (terms + 1.0) * in.least * (1.0 + std::sqrt(norm));
  return x;
}

}  // namespace

template <class T>
ValueBound value_bound(const RowSource& source) {
  const Features features = *source.features();
  const Form form = form_of(features);
  ReductionBound x{Arithmetic::of<T>(), features.largest_norm};  // of binary features: sums of whole numbers
  if (!longest_binary_row(source)) {
    const double terms = static_cast<double>(form == Form::sparse ? longest_row(source) : features.n_columns);
    x = reduction_bound<T>(features, form, terms);
  }
  if (!(x.largest_norm <= x.arithmetic.most / 16.0)) return ValueBound::none();
  return with_formula(features.kernel.kind, [&]<class F>() { return F::bound(features.kernel, x); });
}

double roundings(const RowSource& source) {
  const auto features = source.features();
  const bool norms = features && form_of(*features) != Form::differences;
  return 4.0 + (features ? std::sqrt(features->n_columns) : 0.0) + (norms ? features->rounding_of_norms() : 0.0);
}

template ValueBound value_bound<float>(const RowSource&);
template ValueBound value_bound<double>(const RowSource&);

}  // namespace ordsvm::tiles
