// What the bindings of linear machines share.
#pragma once

#include "bindings/arrays.hpp"
#include "linear/row_views.hpp"

namespace ordsvm::linear {

/// A block of rows on arrays of Python's, which Python keeps alive.
struct RowBlock {
  Rows rows;
};

}  // namespace ordsvm::linear
