#include "simd/instruction_set.hpp"

#include <cstdlib>
#include <stdexcept>

#ifdef ORDSVM_HAS_SETS
#include <cpuid.h>
#endif

namespace ordsvm {
namespace {

#ifdef ORDSVM_HAS_SETS

/// What the processor has, and whether the system keeps its registers when threads take turns. By its own instructions:
/// what __builtin_cpu_supports reads is in a library that linkers of Windows do not add.
struct Processor {
  unsigned leaf_1 = 0, leaf_7 = 0;                                    // flags, in registers ecx and ebx
  unsigned kept = 0;                                                  // XCR0
  static constexpr unsigned registers = 0x06, wide_registers = 0xe0;  // of 16 and 32 bytes; of masks and 64 bytes

  Processor() {
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE)) return;
    leaf_1 = ecx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) leaf_7 = ebx;
    asm volatile("xgetbv" : "=a"(kept), "=d"(edx) : "c"(0));
#ifdef __APPLE__
    kept |= wide_registers;  // which macOS keeps from their first use on
#endif
  }
  bool has(unsigned flags_1, unsigned flags_7, unsigned registers) const {
    return (leaf_1 & flags_1) == flags_1 && (leaf_7 & flags_7) == flags_7 && (kept & registers) == registers;
  }
};

/// What the processor has.
InstructionSet widest() {
  static const Processor processor;
  constexpr unsigned avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
  constexpr unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  if (!processor.has(bit_AVX | bit_FMA, avx2, Processor::registers)) return InstructionSet::baseline;
  return processor.has(0, avx512, Processor::wide_registers) ? InstructionSet::avx512 : InstructionSet::avx2;
}

#else

InstructionSet widest() { return InstructionSet::baseline; }

#endif

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
