// Runs the tests whose names contain the first argument (all of them without one).
#include <chrono>
#include <exception>
#include <string_view>

#include "check.hpp"

namespace {

/// A test fails by a failed check, by an exception, and by checking nothing.
bool passes(const check::Test& test) {
  check::checks = check::failures = 0;
  try {
    test.run();
  } catch (const std::exception& error) {
    check::fail(error.what(), test.name, 0);
  }
  if (check::checks == 0) check::fail("nothing was checked", test.name, 0);
  return check::failures == 0;
}

bool run(const check::Test& test) {
  const auto start = std::chrono::steady_clock::now();
  const bool passed = passes(test);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  std::printf("%-6s %s: %ld checks, %ld failed, %.2f s\n", passed ? "ok" : "FAILED", test.name, check::checks.load(),
              check::failures.load(), spent.count());
  std::fflush(stdout);
  return passed;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  int passed = 0, failed = 0;
  for (const check::Test& test : check::tests())
    if (std::string_view(test.name).find(wanted) != std::string_view::npos) ++(run(test) ? passed : failed);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
