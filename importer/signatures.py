"""What a file is, by its first bytes and never by its name."""

from __future__ import annotations

TAR_BLOCK = 512
GZIP = b"\x1f\x8b"
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04")
ZIP_END = b"PK\x05\x06"
ZIP_TAIL = 22 + 0xFFFF
"""The last so many bytes of a zip hold its end record."""

_OTHERS = (
    (b"BZh", "a bzip2 stream"),
    (b"\xfd7zXZ\x00", "an xz stream"),
    (b"(\xb5/\xfd", "a zstd stream"),
    (b"7z\xbc\xaf'\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"),
    (b"xar!", "a xar archive"),
    (b"!<arch>\n", "an ar archive or Debian package"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
)


def looks_like_zip(head: bytes, tail: bytes = b"") -> bool:
    """Whether a file starts as a zip does, or has a zip's end record in its last `ZIP_TAIL` bytes."""
    return head.startswith(ZIP_STARTS) or ZIP_END in tail


def looks_like_gzip(head: bytes) -> bool:
    """Whether a file starts as gzip does."""
    return head.startswith(GZIP)


def looks_like_tar(head: bytes) -> bool:
    """Whether the first 512 bytes are a tar header with a right checksum."""
    return len(head) >= TAR_BLOCK and tar_checksum(head[:TAR_BLOCK]) == _octal(head[148:156])


def tar_checksum(block: bytes) -> int:
    """Return the sum of a header's bytes, its own field counted as eight spaces."""
    return sum(block) - sum(block[148:156]) + 8 * 0x20


def other_kind(head: bytes) -> str:
    """Say what a file is that is no kind of package, by its first bytes; "" where they tell nothing."""
    return next((name for start, name in _OTHERS if head.startswith(start)), "")


def _octal(field: bytes) -> int:
    digits = field.strip(b" \0")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else -1
