// The most multiply-adds that the processor makes: chains of them in registers, as many at a time as hide their latency.
// Prints multiply-adds a second of `argv[1]` threads together, in float32 and in float64. Compiled by dense_roofline.py.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int bytes = 64;
#elif defined(__AVX__)
constexpr int bytes = 32;
#else
constexpr int bytes = 16;
#endif
constexpr int chains = 12;
constexpr long rounds = 20'000'000;

template <class T>
using Vector [[gnu::vector_size(bytes)]] = T;

template <class T>
double turn(T factor) {
  Vector<T> sum[chains], x = Vector<T>{} + factor;
  for (int c = 0; c < chains; ++c) sum[c] = Vector<T>{} + T(c);
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) sum[c] = sum[c] * x + x;
  }
  double total = 0.0;
  for (const auto& one : sum) total += static_cast<double>(one[0]);
  return total;
}

template <class T>
double rate(int n_threads) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  std::vector<double> seconds(n_threads), sums(n_threads);
  for (int t = 0; t < n_threads; ++t)
    threads.emplace_back([&, t] {
      for (++ready; ready < n_threads;) std::this_thread::yield();
      const auto began = std::chrono::steady_clock::now();
      sums[t] = turn<T>(T(0.5) + T(t) / T(1024));
      seconds[t] = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    });
  for (auto& thread : threads) thread.join();
  double all = 0.0;
  for (int t = 0; t < n_threads; ++t) all += sums[t] == 0.0 ? 0.0 : rounds * chains * (bytes / sizeof(T)) / seconds[t];
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const int n_threads = argc > 1 ? std::atoi(argv[1]) : 1;
  std::printf("%.6e %.6e\n", rate<float>(n_threads), rate<double>(n_threads));
}
