// Prediction for Python.
#pragma once

#include "bindings/arrays.hpp"

namespace ordsvm::prediction {

void bind_prediction(nb::module_& m);

}  // namespace ordsvm::prediction
