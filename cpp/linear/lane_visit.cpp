#include "linear/lane_visit.hpp"

namespace ordsvm::linear {

#define ORDSVM_LANE_VISIT(VIEW, W, P)                                                                       \
  ORDSVM_DISPATCH(void, visit, (const VIEW& rows, const Group<W, P>& g, Place place, Index from, Index to), \
                  (rows, g, place, from, to)) {                                                             \
    visit_rows(rows, g, place, from, to);                                                                   \
  }
ORDSVM_ALL_VISITS(ORDSVM_LANE_VISIT)

}  // namespace ordsvm::linear
