"""What a person should know of a skill's files before they install it: programs, secrets, hidden text, dead links."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote

from importer.diagnostics import Diagnostic, error, shown, warning
from importer.formats.phrases import counted, listed
from importer.inspection import Inspection, hidden_warning
from importer.model import FileRecord

_PROGRAM_ENDING = re.compile(
    r"(?:sh|bash|zsh|fish|[kc]sh|command|pyw?|rb|p[lm]|php|lua|r|jl|[mc]?jsx?|[mc]?tsx?|jar|class|war|groovy"
    r"|ps[dm]?1|bat|cmd|vb[se]|ws[fh]|hta|scpt|applescript|exe|com|msi|scr|dll|so|dylib|elf|out|wasm|deb|rpm|apk|pkg|dmg"
    r"|appimage|reg|lnk)",
    re.IGNORECASE,
)
_KEY_NAMES = frozenset(
    {
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".htpasswd",
    }
    | {
        ".pgpass",
        "credentials.json",
        "service-account.json",
        "secrets.json",
        "secrets.yaml",
        "secrets.yml",
        ".env",
        ".envrc",
    }
)
_KEY_ENDS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk")
_EXAMPLES = (".example", ".sample", ".template", ".dist", ".tmpl")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_TICKS = re.compile(r"(`+)")
_INLINE_LINK = re.compile(r"\]\([ \t]*(?:<([^<>]*)>(?=[\s)])|([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))")
_LINK_DEFINITION = re.compile(r" {0,3}\[[^\]\[]{1,200}\]:[ \t]*(?:<([^<>]*)>|([^\s<]\S*))")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_VARIABLE = re.compile(r"[{}$<>*]|\.\.\.|…")
_LONGEST_LINE = 20_000


def review_files(
    root: str, records: Sequence[FileRecord], inspections: Mapping[str, Inspection], document: bytes, document_name: str
) -> tuple[Diagnostic, ...]:
    """Look over the staged files of one skill.

    Args:
        root: the skill's folder in the package.
        records: its files.
        inspections: what was seen in each of them, by path from the root.
        document: the bytes of its SKILL.md, or the start of them.
        document_name: how the document is spelled.

    Returns:
        one diagnostic for each kind of finding, with a count and the first names; one for each file that hides text.
    """
    paths = [record.path.text for record in records]
    inspected = [path for path in paths if path in inspections] if inspections else []
    found = [
        _lfs_pointers(root, [path for path in inspected if inspections[path].lfs_pointer]),
        _programs(root, records, paths, {path for path in inspected if inspections[path].shebang}),
        _secrets(root, paths),
        _dead_links(root, paths, document, document_name),
    ]
    hidden = [hidden_warning(_path(root, path), inspections[path]) for path in inspected]
    return tuple(finding for finding in (*found, *hidden) if finding is not None)


def is_program(name: str) -> bool:
    """Whether a file's name says that it can be run."""
    stem, _, ending = name.rpartition("/")[2].rpartition(".")
    return bool(stem) and _is_program_ending(ending)


@lru_cache(maxsize=512)
def _is_program_ending(ending: str) -> bool:
    return _PROGRAM_ENDING.fullmatch(ending) is not None


def is_secret_file(name: str) -> bool:
    """Whether a file's name says that it holds keys or passwords."""
    last = name[name.rfind("/") + 1 :].lower()
    is_named = last in _KEY_NAMES or last.endswith(_KEY_ENDS) or last.startswith(".env.")
    return is_named and not last.endswith(_EXAMPLES)


def _path(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name


def _lfs_pointers(root: str, names: Sequence[str]) -> Diagnostic | None:
    if not names:
        return None
    return error(
        "skill-lfs-pointer",
        f"{counted(len(names), 'file')} not there, only the pointer that Git LFS leaves in the place: {listed(names)}; "
        "fetch the repository with git-lfs and preview the folder",
        _path(root, names[0]),
        count=len(names),
        names=[shown(name) for name in names[:50]],
    )


def _programs(root: str, records: Sequence[FileRecord], paths: Sequence[str], shebangs: set[str]) -> Diagnostic | None:
    by_mode = [r.path.text for r in records if r.executable and r.mode_known]
    by_shebang = [r.path.text for r in records if r.shebang or r.path.text in shebangs]
    # A skill has many files and few endings.
    endings = {path[path.rfind(".") + 1 :] for path in paths}
    by_name = [path for path in paths if is_program(path)] if any(map(_is_program_ending, endings)) else []
    every = {*by_mode, *by_shebang, *by_name}
    if not every:
        return None
    names = [path for path in paths if path in every]
    found = (("mode", by_mode), ("'#!'", by_shebang), ("name", by_name))
    how = ", ".join(f"{len(paths):,} by {what}" for what, paths in found if paths)
    return warning(
        "skill-executables",
        f"{counted(len(names), 'file')} that can be run: {listed(names)} ({how}); an agent may start them: read them "
        "first",
        _path(root, names[0]),
        count=len(names),
        names=[shown(name) for name in names[:50]],
    )


def _secrets(root: str, paths: Sequence[str]) -> Diagnostic | None:
    names = [path for path in paths if is_secret_file(path)]
    if not names:
        return None
    return warning(
        "skill-secret-file",
        f"{counted(len(names), 'file')} of a kind that holds keys or passwords: {listed(names)}; ask the author "
        "whether they are meant to be published",
        _path(root, names[0]),
        count=len(names),
        names=[shown(name) for name in names[:50]],
    )


# --- links -----------------------------------------------------------------------------------------------------------


def _dead_links(root: str, paths: Sequence[str], document: bytes, document_name: str) -> Diagnostic | None:
    links = relative_links(document.decode("utf-8", "replace"))
    if not links:
        return None
    there = {*paths, ""}
    for name in list(there):
        folder = name.rpartition("/")[0]
        while folder and folder not in there:
            there.add(folder)
            folder = folder.rpartition("/")[0]
    dead: dict[str, int] = {}
    for line, target in links:
        if target not in dead and _resolve(target) not in there:
            dead[target] = line
    if not dead:
        return None
    names = list(dead)
    return warning(
        "skill-link-dead",
        f"{counted(len(names), 'link')} to nothing in the skill: "
        f"{listed([f'{name} (line {dead[name]})' for name in names])}; the file is missing or named otherwise",
        _path(root, document_name),
        dead[names[0]],
        count=len(names),
        targets=[shown(name) for name in names[:50]],
        lines=[dead[name] for name in names[:50]],
    )


def relative_links(text: str) -> list[tuple[int, str]]:
    """Return the relative targets of Markdown links with their lines; code, web addresses and anchors left out."""
    links: list[tuple[int, str]] = []
    fence = ""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence):
                fence = ""
            continue
        if mark:
            fence = mark.group(1)
            continue
        if "](" not in line and "]:" not in line:
            continue
        prose = _without_code(line[:_LONGEST_LINE])
        definition = _LINK_DEFINITION.match(prose)
        for match in (*_INLINE_LINK.finditer(prose), *([definition] if definition else [])):
            target = match.group(1) or match.group(2) or ""
            path = target.partition("#")[0].partition("?")[0]
            if path and not path.startswith(("/", "\\")) and not _SCHEME.match(path) and not _VARIABLE.search(path):
                links.append((number, path))
    return links


def _without_code(line: str) -> str:
    """Return a line without its code spans: from a run of backticks to the next run of the same length."""
    if "`" not in line:
        return line
    parts = _TICKS.split(line)
    # Odd positions are the runs; from the right, so that each one knows the next of its length.
    next_run: dict[int, int] = {}
    closing: dict[int, int] = {}
    for at in range(len(parts) - 2, 0, -2):
        length = len(parts[at])
        if length in next_run:
            closing[at] = next_run[length]
        next_run[length] = at
    kept: list[str] = []
    at = 0
    while at < len(parts):
        if at in closing:
            at = closing[at] + 1
            continue
        kept.append(parts[at])
        at += 1
    return "".join(kept)


def _resolve(target: str) -> str:
    """Return the path that a link in SKILL.md means, "" for the skill's own folder, ".." where it leads out of it."""
    segments: list[str] = []
    for segment in unicodedata.normalize("NFC", unquote(target)).split("/"):
        if segment == "..":
            if not segments:
                return ".."
            segments.pop()
        elif segment not in {"", "."}:
            segments.append(segment)
    return "/".join(segments)
