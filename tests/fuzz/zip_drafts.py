"""Zip files before they become bytes: honest ones of every shape, for the changes of `zips` to work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.builders.zips import DEFLATED, STORED, Item, archive, folder, link

if TYPE_CHECKING:
    from random import Random

WORDS = [b"SKILL.md", b"a", b"notes.txt", b"scripts", b"x" * 60, "übersicht.md".encode(), "技能".encode(), b"README"]
RECORDS = [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x07\x08"]


@dataclass(kw_only=True)
class Draft:
    """An archive before it becomes bytes."""

    items: list[Item]
    prefix: bytes = b""
    shifted: bool = False
    order: list[int] | None = None
    gap: bytes = b""
    tail: bytes = b""
    comment: bytes = b""
    suffix: bytes = b""
    end: dict[str, int | bytes] = field(default_factory=dict)
    end64: dict[str, int | bytes] | None = None
    locator: dict[str, int | bytes] | None = None

    def written(self) -> bytes:
        """Return the archive."""
        return archive(
            self.items,
            prefix=self.prefix,
            shifted=self.shifted,
            order=self.order,
            gap=self.gap,
            directory_tail=self.tail,
            comment=self.comment,
            suffix=self.suffix,
            end=self.end,
            end64=self.end64,
            locator=self.locator,
        )


def content(chance: Random) -> bytes:
    """Return some bytes; now and then with a record in them, or of a size at which readers change their ways."""
    kind = chance.randrange(8)
    if kind == 0:
        return b""
    if kind == 1:
        return chance.randbytes(chance.randrange(1, 200))
    if kind == 2:
        return chance.randbytes(20) + chance.choice(RECORDS) + chance.randbytes(20)
    if kind == 3:
        return bytes([chance.randrange(256)]) * chance.choice([1, 65_535, 65_536, 131_072, 262_145])
    if kind == 4:
        return archive([Item(name=b"inner.txt", content=b"inner")])
    return b" ".join(chance.choice(WORDS) for _ in range(chance.randrange(1, 400)))


def item(chance: Random, number: int) -> Item:
    """Return one honest entry."""
    if chance.randrange(9) == 0:
        return folder(b"folder-%d/" % number, host=chance.choice([0, 3, 19]))
    if chance.randrange(9) == 0:
        return link(b"link-%d" % number, b"target", method=chance.choice([STORED, DEFLATED]))
    wide = chance.randrange(6) == 0
    return Item(
        name=b"/".join([b"%d" % number, *chance.choices(WORDS, k=chance.randrange(1, 3))]),
        content=content(chance),
        method=chance.choice([STORED, DEFLATED]),
        streamed=chance.randrange(3) == 0,
        wide=wide,
        needed=45 if wide else chance.choice([10, 20]),
        host=chance.choice([0, 3, 3, 19]),
        mode=chance.choice([0, 0o100644, 0o100755]),
        flags=chance.choice([0, 0, 0, 2, 0x800]),
    )


def honest(chance: Random) -> Draft:
    """Return an archive that lies nowhere."""
    draft = Draft(items=[item(chance, number) for number in range(chance.randrange(1, 5))])
    if chance.randrange(5) == 0:
        draft.end64 = {}
    if chance.randrange(5) == 0:
        draft.comment = b"a comment"
    if chance.randrange(5) == 0:
        draft.order = list(range(len(draft.items)))
        chance.shuffle(draft.order)
    return draft
