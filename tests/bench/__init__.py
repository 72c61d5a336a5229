"""Speed and memory, as ratios against a named baseline measured in the same run. Run `python -m tests.bench`."""
