"""Solvers of the papers that `auto` never takes."""
