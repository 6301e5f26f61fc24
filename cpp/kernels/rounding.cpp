#include "kernels/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace ordsvm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whether a parameter is rounded as results are.
bool is_normal(double parameter, const Arithmetic& in) {
  return parameter == 0.0 || (std::abs(parameter) >= 2.0 * in.least && std::abs(parameter) <= in.most / 4.0);
}

}  // namespace

double Arithmetic::share(double count) const {
  const double sum = count * unit;
  return sum < 0.5 ? sum / (1.0 - sum) : infinity;
}

ValueBound ValueBound::none() { return {infinity, 0.0}; }

namespace rounding {

ValueBound of_product(const ReductionBound& x) { return {x.absolute, x.largest_norm}; }

ValueBound of_decay(const Kernel& kernel, const ReductionBound& x) {
  const Arithmetic& in = x.arithmetic;
  const double relative = x.relative + (1.0 + x.relative) * in.share(4.0);
  if (!is_normal(kernel.gamma, in) || kernel.gamma < 0.0 || !(relative < 0.5)) return ValueBound::none();
  const double of_features = std::sqrt(2.0 / std::exp(1.0) * kernel.gamma) * x.of_root;
  const double of_distance = relative / (std::exp(1.0) * (1.0 - relative));
  const double of_cancellation = std::min(1.0, kernel.gamma * x.absolute * (1.0 + in.share(4.0)));
  return {of_features + of_distance + of_cancellation + in.of_power * in.unit + 4.0 * in.least, 1.0};
}

ValueBound of_affine(const Kernel& kernel, const ReductionBound& x) {
  const Arithmetic& in = x.arithmetic;
  const double gamma = std::abs(kernel.gamma), largest = gamma * x.largest_norm + std::abs(kernel.coef0);
  if (!is_normal(kernel.gamma, in) || !(largest <= in.most / 4.0)) return ValueBound::none();
  return {gamma * x.absolute * (1.0 + in.share(3.0)) + largest * in.share(3.0) + 4.0 * in.least, largest};
}

ValueBound of_power(const Kernel& kernel, int whole_degree, const ReductionBound& x) {
  const Arithmetic& in = x.arithmetic;
  const ValueBound base = of_affine(kernel, x);
  if (whole_degree < 0 || !std::isfinite(base.error)) return ValueBound::none();
  const double degree = whole_degree, scale = std::max(base.largest, in.least);
  const double growth = degree * std::log1p(base.error / scale) + std::log1p(in.share(std::max(0.0, degree - 1.0)));
  const double largest = std::pow(scale, degree);
  if (!(largest * std::exp(growth) <= in.most / 4.0)) return ValueBound::none();
  return {largest * std::expm1(growth) + 2.0 * degree * in.least, largest};
}

ValueBound of_tangent(const Kernel& kernel, const ReductionBound& x) {
  return {of_affine(kernel, x).error + (6.0 + x.arithmetic.of_power) * x.arithmetic.unit, 1.0};
}

}  // namespace rounding
}  // namespace ordsvm
