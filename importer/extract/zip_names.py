"""How the bytes of a zip's names become text.

With the UTF-8 flag a name is UTF-8. Without it a name is ASCII, or UTF-8 all the same (the macOS Finder and Info-ZIP
write that); or it is in an old code page that only a person can know, and then every unflagged name of the archive is
read by the one that was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from importer.diagnostics import Diagnostic, Rejected, error, shown, warning
from importer.extract.zip_format import UTF8, shown_bytes

if TYPE_CHECKING:
    from importer.extract.zip_format import Refusals

_UTF8_HOSTS = frozenset({3, 19})
"""Unix and macOS: whatever has another host, DOS and Windows above all, readers take for a code page."""
_ASCII_SAMPLE = "ABCXYZabcxyz0189._-/+\\ "


class NameRule:
    """Decodes the names of one archive, and keeps what is worth telling about them."""

    def __init__(self, encoding: str | None, refuse: Refusals) -> None:
        """Take a code page for names without the UTF-8 flag; None reads them as UTF-8.

        Raises:
            Rejected: `path-encoding` where `encoding` is no code page that keeps ASCII as it is.
        """
        self._refuse = refuse
        self._encoding = encoding
        self.ascii_as_is = encoding is None
        """Whether ASCII without the UTF-8 flag stands for itself; a code page may give some of it another meaning."""
        self._odd = 0
        self._first_odd = ""
        if encoding is not None and not is_code_page(encoding):
            raise Rejected(
                [
                    error(
                        "path-encoding",
                        f"--name-encoding '{shown(encoding)}' is no code page for names; known are cp437, cp850, cp932,"
                        " gbk, big5, euc_kr, cp1251, …",
                        refuse.where(),
                    )
                ]
            )

    def decode(self, raw: bytes, flags: int, host: int, offset: int) -> str:
        """Return the name as text. `flags` and `host` are those of the entry, `offset` is where the name stands.

        Raises:
            Rejected: `path-encoding` where the bytes are not what flag or code page promise.
        """
        flagged = flags & UTF8
        if self._encoding is not None and not flagged:
            try:
                return raw.decode(self._encoding)
            except UnicodeError:
                raise self._undecodable(raw, offset, f"a name is not {shown(self._encoding)}") from None
        try:
            name = str(raw, "utf-8")
        except UnicodeDecodeError:
            if flagged:
                text = f"the name {shown_bytes(raw)} is flagged as UTF-8 and is not"
                advice = "ask its author to pack it again"
                raise Rejected(
                    [error("path-encoding", f"zip, byte {offset:,}: {text}; {advice}", self._refuse.where())]
                ) from None
            raise self._undecodable(raw, offset, "a name has no UTF-8 flag and is not UTF-8") from None
        if not flagged and host not in _UTF8_HOSTS and not name.isascii():
            self._odd += 1
            self._first_odd = self._first_odd or name
        return name

    def check_unicode_field(self, value: bytes, raw: bytes, name: str, offset: int) -> None:
        """Hold an Info-ZIP Unicode path field to the name that the header gives.

        Raises:
            Rejected: `archive-ambiguous`: some readers obey the field and others do not.
        """
        if len(value) < 5 or value[0] != 1:
            raise self._refuse.ambiguous(
                offset, "the Unicode path field (0x7075) has another form than version 1", name
            )
        if int.from_bytes(value[1:5], "little") != crc32(raw):
            raise self._refuse.ambiguous(offset, "the Unicode path field (0x7075) belongs to another name", name)
        if value[5:] != name.encode("utf-8", "surrogatepass"):
            raise self._refuse.ambiguous(
                offset, f"the Unicode path field (0x7075) names it {shown_bytes(value[5:])}", name
            )

    def notes(self) -> list[Diagnostic]:
        """Return a warning about names that other systems show differently."""
        if not self._odd:
            return []
        return [
            warning(
                "path-encoding",
                f"{self._odd} names have no UTF-8 flag and come from DOS, Windows or another old system, the first is "
                f"'{shown(self._first_odd)}'; they were read as UTF-8. If they look wrong, name the code page with "
                "--name-encoding",
                self._refuse.where(),
                count=self._odd,
            )
        ]

    def _undecodable(self, raw: bytes, offset: int, what: str) -> Rejected:
        text = shown_bytes(raw)
        advice = (
            "say which code page its names were written in: --name-encoding cp437|cp850|gbk|big5|cp932|euc_kr|cp1251|…"
        )
        return Rejected(
            [error("path-encoding", f"zip, byte {offset:,}: {what}: {text}; {advice}", self._refuse.where(), name=text)]
        )


def is_code_page(encoding: str) -> bool:
    """Return whether `encoding` names a text encoding that keeps ASCII as it is."""
    try:
        return all(letter.encode("ascii").decode(encoding) == letter for letter in _ASCII_SAMPLE)
    except (LookupError, ValueError):
        return False
