// Compiled once, for the bindings and for the tests.
#include "solvers/block/block_smo.hpp"

namespace ordsvm::block {

template class BlockSmo<float>;
template class BlockSmo<double>;

}  // namespace ordsvm::block
