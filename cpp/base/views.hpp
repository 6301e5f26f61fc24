// Data where they lie, in arrays of the caller: dense or CSR.
#pragma once

#include "base/hinges.hpp"

namespace ordsvm {

/// A matrix in C order: values[i * n_columns + j].
template <class T>
struct DenseView {
  const T* values;
  Index n_rows;
  Index n_columns;
};

template <class T, class I>
struct CsrView {
  const T* values;
  const I* columns;
  const I* starts;  // n_rows + 1 of them
  Index n_rows;
  Index n_columns;
};

}  // namespace ordsvm
