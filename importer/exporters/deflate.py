"""Deflate (RFC 1951) that gives the same bytes on every machine, for the rare export that does not fit uncompressed.

zlib's own output differs between its versions and builds, so it cannot be used where bytes are promised. This one is
plain: blocks of one mebibyte with the fixed Huffman codes, matches of at least four bytes found by the last place where
the same four bytes stood, nothing carried from block to block. It is slow, and is only asked where it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

BLOCK = 1024 * 1024
WINDOW = 32 * 1024
MIN_MATCH = 4
MAX_MATCH = 258


def _reversed_bits(code: int, bits: int) -> int:
    """Huffman codes are packed starting with their highest bit, everything else with its lowest."""
    return int(f"{code:0{bits}b}"[::-1], 2)


def _fixed(symbol: int) -> tuple[int, int]:
    """Return the fixed code of a literal or length symbol, ready to be packed, with its bits (RFC 1951, 3.2.6)."""
    if symbol < 144:
        return _reversed_bits(0x30 + symbol, 8), 8
    if symbol < 256:
        return _reversed_bits(0x190 + symbol - 144, 9), 9
    if symbol < 280:
        return _reversed_bits(symbol - 256, 7), 7
    return _reversed_bits(0xC0 + symbol - 280, 8), 8


def _lengths() -> list[tuple[int, int]]:
    """Return code and bits, extra bits included, for each length of a match."""
    table = [(0, 0)] * (MAX_MATCH + 1)
    length, symbol = 3, 257
    for extra in (0, 0, 1, 2, 3, 4, 5):
        for _ in range(4):
            code, bits = _fixed(symbol)
            for more in range(1 << extra):
                if length + more < MAX_MATCH:
                    table[length + more] = (code | more << bits, bits + extra)
            length, symbol = length + (1 << extra), symbol + 1
    table[MAX_MATCH] = _fixed(285)
    return table


def _distances() -> list[tuple[int, int, int]]:
    """Return (first distance, code, extra bits) for each distance symbol."""
    table: list[tuple[int, int, int]] = []
    first = 1
    for symbol in range(30):
        extra = max(0, symbol // 2 - 1)
        table.append((first, _reversed_bits(symbol, 5), extra))
        first += 1 << extra
    return table


_LITERAL = [_fixed(symbol) for symbol in range(256)]
_END = _fixed(256)
_LENGTH = _lengths()
_DISTANCE = _distances()
# The symbol of a distance follows from the number of its bits and from its second bit.
_SYMBOL_OF = {}
for _symbol, (_first, _, _extra) in enumerate(_DISTANCE):
    for _step in range(1 << _extra):
        _SYMBOL_OF[_first + _step] = _symbol


def deflate(chunks: Iterable[bytes], limit: int) -> bytes | None:
    """Compress a file.

    Args:
        chunks: its content.
        limit: the most bytes that are worth it.

    Returns:
        The stream, or None where it would be longer than `limit`. At most that much, and one block, is held.
    """
    out = bytearray()
    packed = bits = 0
    blocks = _blocks(chunks)
    block = next(blocks, b"")
    while True:
        following = next(blocks, None)
        packed |= (2 | (following is None)) << bits
        bits += 3
        for code, size in _codes(block):
            packed |= code << bits
            bits += size
            if bits >= 256:
                out += (packed & (1 << 256) - 1).to_bytes(32, "little")
                packed >>= 256
                bits -= 256
        if len(out) > limit:
            return None
        if following is None:
            break
        block = following
    out += packed.to_bytes((bits + 7) // 8, "little")
    return bytes(out) if len(out) <= limit else None


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) >= BLOCK:
            yield bytes(held[:BLOCK])
            del held[:BLOCK]
    if held:
        yield bytes(held)


def _codes(block: bytes) -> Iterator[tuple[int, int]]:
    last: dict[bytes, int] = {}
    at = 0
    end = len(block) - MIN_MATCH
    while at <= end:
        key = block[at : at + MIN_MATCH]
        before = last.get(key)
        last[key] = at
        if before is None or at - before > WINDOW:
            yield _LITERAL[block[at]]
            at += 1
            continue
        length = _match(block, before, at)
        distance = at - before
        first, code, extra = _DISTANCE[_SYMBOL_OF[distance]]
        yield _LENGTH[length]
        yield code | (distance - first) << 5, 5 + extra
        at += length
    for value in block[at:]:
        yield _LITERAL[value]
    yield _END


def _match(block: bytes, before: int, at: int) -> int:
    """Return how many bytes are equal at two places, at least `MIN_MATCH`."""
    most = min(MAX_MATCH, len(block) - at)
    if block[before : before + most] == block[at : at + most]:
        return most
    length = MIN_MATCH
    while block[before + length] == block[at + length]:
        length += 1
    return length
