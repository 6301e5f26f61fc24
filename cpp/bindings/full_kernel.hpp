// Fits of a search for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace ordsvm::search {

void bind_search(nanobind::module_& m);

}  // namespace ordsvm::search
