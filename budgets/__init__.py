"""Named limits, and the meters that hold an import to them.

`Limit` is one number with a name and a unit, `Profile` a named set of them, `Budgets` all profiles of one run (the
defaults, with whatever a command line or a configuration changed). A `Meter` counts against one profile and charges
what is *delivered*, never what is declared. This package knows nothing of archives, skills or the importer.
"""

from budgets.errors import BudgetExceeded, UnknownLimit
from budgets.limits import Limit, Profile, Unit
from budgets.meter import Meter, Usage
from budgets.profiles import DEFAULTS, Budgets, Override
from budgets.streams import MeteredReader, metered

__all__ = [
    "DEFAULTS",
    "BudgetExceeded",
    "Budgets",
    "Limit",
    "Meter",
    "MeteredReader",
    "Override",
    "Profile",
    "Unit",
    "UnknownLimit",
    "Usage",
    "metered",
]
