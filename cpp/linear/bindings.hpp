#pragma once

#include "../bindings.hpp"

namespace ordsvm::linear {

void bind_linear(nb::module_& m);

}  // namespace ordsvm::linear
