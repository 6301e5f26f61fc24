// The solvers of one thread, by name, and problems for them.
#pragma once

#include "solve.hpp"
#include "solvers/gcd.hpp"
#include "solvers/smo.hpp"

namespace ordsvm {

enum class Method { smo_mvp, smo_second_order, gcd };
inline const std::vector<Method> pair_methods = {Method::smo_mvp, Method::smo_second_order};

inline std::string name(Method method) {
  return method == Method::gcd ? "gcd" : method == Method::smo_mvp ? "smo mvp" : "smo second order";
}

template <class T>
Outcome run(const Hinges& hinges, RowCache<T>& cache, Method method, const Limits& limits, const Variables& variables,
            Monitor& monitor) {
  KernelState<T> state(cache, hinges, variables);
  if (method == Method::gcd) return Gcd(hinges, state, variables).run(limits, monitor);
  const Selection selection = method == Method::smo_mvp ? Selection::mvp : Selection::second_order;
  return Smo(hinges, state, variables, selection).run(limits, monitor);
}

struct Case {
  HingeTable table;
  Method method;
};

/// A problem of every kind on the same data.
inline std::vector<Case> cases_on(const Data& data) {
  const HingeTable free = implicit_table(data, Treatment::free, 2.0),
                   ordered = explicit_table(data, Treatment::ordered, 2.0);
  return {{free, Method::smo_mvp},
          {free, Method::smo_second_order},
          {ordered, Method::smo_mvp},
          {ordered, Method::smo_second_order},
          {implicit_table(data, Treatment::penalized, 2.0), Method::gcd},
          {regression_table(data, Treatment::none, 2.0), Method::gcd}};
}

/// `function(table, method, options)` for every case in both precisions.
template <class Function>
void for_cases(const Data& data, Function function) {
  for (const auto& [table, method] : cases_on(data))
    for (const Options& options : {precise, single}) {
      const check::Context here(name(method) + ", " + name(table.treatment) +
                                (options.double_rows ? ", double" : ", float"));
      function(table, method, options);
    }
}

}  // namespace ordsvm
