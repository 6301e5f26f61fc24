// Which instructions hot loops are made of: the widest vectors that the processor has, or fewer if the environment
// variable ORDSVM_ISA says so.
#pragma once

#include <string>
#include <vector>

namespace ordsvm {

enum class InstructionSet {
  baseline,  // what every processor of its kind has: SSE2 on x86-64, NEON on aarch64
  avx2,      // and FMA, BMI2: vectors of 32 bytes
  avx512,    // F, BW, CD, DQ, VL: vectors of 64 bytes
};

namespace detail {
extern InstructionSet in_use;
}

/// The set in use.
inline InstructionSet instruction_set() { return detail::in_use; }

/// baseline, avx2 or avx512.
std::string name_of(InstructionSet set);

/// Those that this build has and the processor can run, the narrowest first.
std::vector<InstructionSet> usable_sets();

/// Uses the set that the environment variable ORDSVM_ISA names, or the widest where there is none, for good: later calls
/// change nothing, so that loops may run meanwhile. Before the first call the baseline is in use. Throws
/// std::invalid_argument where the variable is no name of a set, or that set is not usable; a call after that reads it
/// again.
void choose_instruction_set();

}  // namespace ordsvm
