// Runs the tests whose names contain the first argument (all of them without one). Says a line about every file, and
// one about every test that failed or was named. With --sets: names the instruction sets that ORDSVM_ISA may name here.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string_view>

#include "check.hpp"
#include "simd/instruction_set.hpp"

namespace {

struct Tally {
  int passed = 0, failed = 0;
  long checks = 0;
};

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

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool run(const check::Test& test, bool asked_for) {
  const auto start = std::chrono::steady_clock::now();
  const bool passed = passes(test);
  if (asked_for || !passed)
    std::printf("%-6s %s: %ld checks, %ld failed, %.2f s\n", passed ? "ok" : "FAILED", test.name, check::checks.load(),
                check::failures.load(), seconds_since(start));
  std::fflush(stdout);
  return passed;
}

const char* name_of(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

Tally run_file(std::span<const check::Test> tests, std::string_view wanted) {
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  for (const check::Test& test : tests) {
    if (std::string_view(test.name).find(wanted) == std::string_view::npos) continue;
    ++(run(test, !wanted.empty()) ? tally.passed : tally.failed);
    tally.checks += check::checks;
  }
  if (tally.passed + tally.failed > 0)
    std::printf("%-6s %s: %d tests, %d failed, %ld checks, %.2f s\n", tally.failed == 0 ? "ok" : "FAILED",
                name_of(tests.front().file), tally.passed + tally.failed, tally.failed, tally.checks,
                seconds_since(start));
  std::fflush(stdout);
  return tally;
}

int print_sets() {
  for (ordsvm::InstructionSet set : ordsvm::usable_sets()) std::printf("%s\n", ordsvm::name_of(set).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  if (wanted == "--sets") return print_sets();
  try {
    ordsvm::choose_instruction_set();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  Tally all;
  for (std::span<const check::Test> left = check::tests(); !left.empty();) {  // tests of a file stand together
    const std::string_view file = left.front().file;
    const auto other =
        std::find_if(left.begin(), left.end(), [&](const check::Test& test) { return test.file != file; });
    const std::size_t count = other - left.begin();
    const Tally tally = run_file(left.first(count), wanted);
    all.passed += tally.passed;
    all.failed += tally.failed;
    left = left.subspan(count);
  }
  std::printf("%s: %d passed, %d failed\n", ordsvm::name_of(ordsvm::instruction_set()).c_str(), all.passed, all.failed);
  return all.failed == 0 && all.passed > 0 ? 0 : 1;
}
