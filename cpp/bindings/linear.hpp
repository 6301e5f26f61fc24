// What the bindings of linear machines share.
#pragma once

#include "bindings/arrays.hpp"
#include "linear/row_views.hpp"

namespace ordsvm::linear {

/// A block of rows on arrays of Python's, which Python keeps alive.
struct Block {
  Rows rows;
};

void bind_linear(nb::module_& m);
void bind_dcd(nb::module_& m);

}  // namespace ordsvm::linear
