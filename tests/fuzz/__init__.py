"""Structure-aware fuzzing with seeds that repeat: `python -m tests.fuzz --minutes 5`, or a few cases under pytest.

A target is a pair of functions (see `engine.Target`). To add one, write a module with a `TARGET` and name it in
`targets.py`.
"""
