// The extension module ordsvm._core: hands arrays to the core, and releases the interpreter's lock while it computes.
#include "bindings/bind.hpp"
#include "simd/instruction_set.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native core of ordsvm: kernel rows and solvers on hinge tables.";
  m.attr("compiler") = __VERSION__;
  ordsvm::choose_instruction_set();
  m.attr("instruction_set") = nanobind::str(ordsvm::name_of(ordsvm::instruction_set()).c_str());
  nanobind::list usable;
  for (const auto set : ordsvm::usable_sets()) usable.append(nanobind::str(ordsvm::name_of(set).c_str()));
  m.attr("instruction_sets") = nanobind::tuple(usable);
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
  ordsvm::bind_together(m);
}
