// How far values of K that tiles make can be from the exact ones: by the form of the samples and the kernel's formula.
#pragma once

#include "kernels/rounding.hpp"
#include "kernels/row_source.hpp"

namespace ordsvm::tiles {

/// A bound for values made in T of features rounded to T, for a source that fits tiles. docs/rounding.md proves it.
template <class T>
ValueBound value_bound(const RowSource& source);

/// How many roundings a value of K in double is off by, as exact products use it: an estimate, as sums of n terms are
/// taken to be off by about the root of n.
double roundings(const RowSource& source);

extern template ValueBound value_bound<float>(const RowSource&);
extern template ValueBound value_bound<double>(const RowSource&);

}  // namespace ordsvm::tiles
