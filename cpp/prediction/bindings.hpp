// Prediction for Python.
#pragma once

#include "../bindings.hpp"

namespace ordsvm::prediction {

void bind_prediction(nb::module_& m);

}  // namespace ordsvm::prediction
