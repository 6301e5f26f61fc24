// Every file of bindings adds its part to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace ordsvm {

void bind_calls(nanobind::module_& m);           // calls.cpp
void bind_kernels(nanobind::module_& m);         // kernels.cpp
void bind_cache(nanobind::module_& m);           // cache.cpp
void bind_solvers(nanobind::module_& m);         // solvers.cpp
void bind_block(nanobind::module_& m);           // block.cpp
void bind_full_kernel(nanobind::module_& m);     // full_kernel.cpp
void bind_together(nanobind::module_& m);        // together.cpp
void bind_linear(nanobind::module_& m);          // linear.cpp
void bind_dcd(nanobind::module_& m);             // dcd.cpp
void bind_feature_system(nanobind::module_& m);  // feature_system.cpp
void bind_prediction(nanobind::module_& m);      // prediction.cpp

}  // namespace ordsvm
