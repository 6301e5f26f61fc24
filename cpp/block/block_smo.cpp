// Compiled with the core, for speed; bindings are compiled for size.
#include "block_smo.hpp"

namespace ordsvm::block {

template class BlockSmo<float>;
template class BlockSmo<double>;

}  // namespace ordsvm::block
