"""Formats: from names and bytes to what a package offers. Pure: nothing here reads a disk, a socket or a clock.

`layout` finds the packages in a tree by names alone, `skill` and `frontmatter` read SKILL.md, `review` looks over the
files of a skill, `settle` decides between candidates of one name, `specialist` reads a Specialist package, `limits`
holds each of them to its budget.
"""
