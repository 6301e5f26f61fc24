"""Benchmarks of ordsvm: `python -m benchmarks` lists them, `python -m benchmarks NAME [--quick]` runs one."""
