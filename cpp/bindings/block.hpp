#pragma once

#include "bindings/arrays.hpp"

namespace ordsvm::block {

void bind_block(nb::module_& m);

}  // namespace ordsvm::block
