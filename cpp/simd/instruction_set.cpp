#include "simd/instruction_set.hpp"

#include <cstdlib>
#include <stdexcept>

namespace ordsvm {
namespace {

bool has_avx2() {
#ifdef ORDSVM_HAS_SETS
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

bool has_avx512() {
#ifdef ORDSVM_HAS_SETS
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

/// What the processor has.
InstructionSet widest() {
#ifdef ORDSVM_HAS_SETS
  __builtin_cpu_init();
#endif
  return has_avx512() ? InstructionSet::avx512 : has_avx2() ? InstructionSet::avx2 : InstructionSet::baseline;
}

}  // namespace

InstructionSet detail::in_use = InstructionSet::baseline;

std::string name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::baseline:
      return "baseline";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
  }
  __builtin_unreachable();
}

std::vector<InstructionSet> usable_sets() {
  std::vector<InstructionSet> usable;
  for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512})
    if (set <= widest()) usable.push_back(set);
  return usable;
}

namespace {

InstructionSet wanted_set() {
  const char* const variable = std::getenv("ORDSVM_ISA");
  const std::string wanted = variable ? variable : "";
  if (wanted.empty()) return widest();
  std::string names;
  for (const InstructionSet set : usable_sets()) {
    if (name_of(set) == wanted) return set;
    names += (names.empty() ? "" : ", ") + name_of(set);
  }
  throw std::invalid_argument("ORDSVM_ISA=" + wanted + ": on this processor it can be " + names + ", or unset.");
}

}  // namespace

void choose_instruction_set() { [[maybe_unused]] static const InstructionSet chosen = detail::in_use = wanted_set(); }

}  // namespace ordsvm
