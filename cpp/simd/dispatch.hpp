// One source, three instruction sets: a function marked ORDSVM_DISPATCH is compiled for each, and the one that the
// machine can run is chosen when the program is loaded. What it calls is to be ORDSVM_INLINE.
#pragma once

// The sanitizers' start-up code runs after the resolvers that
// target_clones makes, so they get the plain version.
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ORDSVM_DISPATCH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ORDSVM_DISPATCH
#endif
#define ORDSVM_INLINE __attribute__((always_inline)) inline

// A function marked ORDSVM_WIDEST is compiled for the last of them alone, and not to be called unless has_widest().
#if defined(__x86_64__) && defined(__GNUC__)
#define ORDSVM_WIDEST __attribute__((target("arch=x86-64-v4")))
#else
#define ORDSVM_WIDEST
#endif

namespace ordsvm {

inline bool has_widest() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace ordsvm
