// The extension module ordsvm._core: hands arrays to the core, and releases the interpreter's lock while it computes.
#include "bindings/bind.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native core of ordsvm: kernel rows and solvers on hinge tables.";
  m.attr("compiler") = __VERSION__;
  ordsvm::bind_calls(m);
  ordsvm::bind_kernels(m);
  ordsvm::bind_cache(m);
  ordsvm::bind_solvers(m);
  ordsvm::bind_block(m);
  ordsvm::bind_linear(m);
  ordsvm::bind_dcd(m);
  ordsvm::bind_feature_system(m);
  ordsvm::bind_prediction(m);
  ordsvm::bind_full_kernel(m);
}
