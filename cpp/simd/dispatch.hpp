// One source, several instruction sets. A file of hot loops is compiled once for each of them (CMakeLists.txt), and
// ORDSVM_SET is then the set's name: baseline, avx2 or avx512. A function that is defined by
//   ORDSVM_DISPATCH(result, name, (parameters), (arguments)) { ... }
// is <set>::name there; where the set is baseline, `name` is defined besides, which calls the one of the set in use.
// What these functions call is to be ORDSVM_INLINE or of an unnamed namespace: a function that the linker shares among
// files could be one with instructions that the processor lacks (tools/shared_symbols.py looks for such). Of the standard
// library they use what any optimisation inlines: minima, elements of vectors.
#pragma once

#include "simd/instruction_set.hpp"

#define ORDSVM_INLINE __attribute__((always_inline)) inline

#ifndef ORDSVM_SET
#define ORDSVM_SET baseline
#define ORDSVM_CHOOSES
#endif

/// The inline namespace of headers whose types depend on the set: in_avx2.
#define ORDSVM_JOIN_AS_THEY_ARE(a, b) a##b
#define ORDSVM_JOIN(a, b) ORDSVM_JOIN_AS_THEY_ARE(a, b)
#define ORDSVM_OWN ORDSVM_JOIN(in_, ORDSVM_SET)

#if !defined(ORDSVM_HAS_SETS)  // other processors than x86-64: what the compiler makes by itself
#define ORDSVM_DISPATCH(result, name, parameters, arguments) result name parameters
#elif defined(ORDSVM_CHOOSES)
#ifdef __AVX__
#error "Compile for any x86-64, without -mavx and the like: wider vectors are chosen when the library is loaded."
#endif
#define ORDSVM_DECLARE(set, result, name, parameters) \
  namespace set {                                     \
  result name parameters;                             \
  }
#define ORDSVM_DISPATCH(result, name, parameters, arguments) \
  ORDSVM_DECLARE(avx512, result, name, parameters)           \
  ORDSVM_DECLARE(avx2, result, name, parameters)             \
  ORDSVM_DECLARE(baseline, result, name, parameters)         \
  result name parameters {                                   \
    switch (instruction_set()) {                             \
      case InstructionSet::avx512:                           \
        return avx512::name arguments;                       \
      case InstructionSet::avx2:                             \
        return avx2::name arguments;                         \
      case InstructionSet::baseline:                         \
        break;                                               \
    }                                                        \
    return baseline::name arguments;                         \
  }                                                          \
  result baseline::name parameters
#else
#define ORDSVM_DISPATCH(result, name, parameters, arguments) \
  namespace ORDSVM_SET {                                     \
  result name parameters;                                    \
  }                                                          \
  result ORDSVM_SET::name parameters
#endif
