"""Preview and install packages of strangers for agents: what would change, within budgets, all of it or nothing."""

__version__ = "0.1.0"
