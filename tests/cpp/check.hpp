// A test framework of one page: TEST defines and registers a test, CHECK looks at a condition.
#pragma once

#include <atomic>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace check {

struct Test {
  const char* file;
  const char* name;
  void (*run)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registered {
  Registered(const char* file, const char* name, void (*run)()) { tests().push_back({file, name, run}); }
};

/// Counters of the test that is running. Threads of a test may check too.
inline std::atomic<long> checks = 0;
inline std::atomic<long> failures = 0;
inline constexpr long most_reports = 5;  // failures of one test that are described; the rest is counted

/// A function, since linkers of Windows refuse such a variable in several files.
inline std::vector<std::string>& contexts() {
  thread_local std::vector<std::string> own;
  return own;
}

/// Says what the checks in its scope are about; shown when one of them fails.
class Context {
 public:
  explicit Context(std::string about) { contexts().push_back(std::move(about)); }
  ~Context() { contexts().pop_back(); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

inline void fail(const char* what, const char* file, int line) {
  if (++failures > most_reports) return;
  std::string about;
  for (const std::string& context : contexts()) about += " [" + context + "]";
  std::fprintf(stderr, "%s:%d: failed: %s%s\n", file, line, what, about.c_str());
}

inline void record(bool holds, const char* expression, const char* file, int line) {
  ++checks;
  if (!holds) fail(expression, file, line);
}

/// Whether `function` throws an E; other exceptions pass through.
template <class E, class Function>
bool throws(Function function) {
  try {
    function();
  } catch (const E&) {
    return true;
  }
  return false;
}

}  // namespace check

#define CHECK(...) check::record(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define TEST(name)                                                         \
  static void name();                                                      \
  static const check::Registered registered_##name(__FILE__, #name, name); \
  static void name()
