"""`importer budgets`: every limit there is."""

from __future__ import annotations

import click

from importer.cli.console import Console
from importer.cli.options import budget_option, common


@click.command()
@budget_option
@common
@click.pass_obj
def budgets(console: Console, /) -> int:
    """List every limit with its profile, its unit and what it counts.

    A limit is changed for one run by --budget PROFILE.LIMIT=N, for one library in its `.importer/config.toml`.
    """
    from importer.cli.limits import effective

    budgets = effective(console)
    changed = {(change.profile, change.limit): change.by for change in budgets.overrides}
    if console.json:
        console.report(
            {
                "schema": "importer/budgets/1",
                "budgets": [
                    {
                        "profile": profile.name,
                        "limit": limit.name,
                        "max": limit.max,
                        "unit": limit.unit.value,
                        "what": limit.what,
                        "changed_by": changed.get((profile.name, limit.name)),
                    }
                    for profile in budgets.profiles.values()
                    for limit in profile.limits
                ],
            }
        )
        return 0
    for profile in budgets.profiles.values():
        console.out(console.style(profile.name, bold=True))
        for limit in profile.limits:
            by = changed.get((profile.name, limit.name))
            note = f"  (changed by {by})" if by else ""
            value = f"{limit.max:,} {limit.unit}"
            console.out(f"  {limit.name:<17} {value:>20}  {limit.what}{note}")
    return 0
