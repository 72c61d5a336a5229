"""README says what the code does: its tables and transcripts are compared, its example is run."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.docs import generated

ROOT = generated.ROOT
TEXT = generated.README.read_text(encoding="utf-8")
BLOCKS = {m["name"]: m["body"] for m in re.finditer(generated._BLOCK, TEXT)}
_CODE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
MAKERS = {"error", "warning", "info", "ImporterError", "LibraryError", "Diagnostic"}


@pytest.mark.parametrize("name", sorted(generated.PARTS))
def test_generated_parts_are_as_the_code_makes_them(name: str) -> None:
    """A table or a transcript in README that went stale fails here; `python -m tests.docs.generated` renews it."""
    assert BLOCKS[name].rstrip("\n") == generated.PARTS[name]()


def test_the_python_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The example is run as it stands, over a sample and a fresh library."""
    found = re.search(r"<!-- example -->\n```python\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    library = tmp_path / "library"
    exec(compile(found[1], "README.md", "exec"), {"library": library, "source": str(ROOT / "samples" / "reef-survey")})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "reef-survey install new"
    assert (library / "skills" / "reef-survey" / "SKILL.md").is_file()


def codes_in_sources() -> dict[str, set[str]]:
    """Return every code that a diagnostic or an error is made with, and where."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "importer").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            name = (
                function.id
                if isinstance(function, ast.Name)
                else function.attr
                if isinstance(function, ast.Attribute)
                else ""
            )
            values = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "code")]
            if name not in MAKERS:
                continue
            for value in values:
                for part in ast.walk(value):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str) and _CODE.fullmatch(part.value):
                        found.setdefault(part.value, set()).add(str(path.relative_to(ROOT)))
    return found


def test_every_code_is_documented() -> None:
    """A code in the sources that README does not explain fails here."""
    from importer.codes import CODES

    missing = {code: places for code, places in codes_in_sources().items() if code not in CODES}
    assert missing == {}


def test_every_documented_code_is_used() -> None:
    """A code that nothing says any more is not in the list."""
    from importer.codes import CODES

    sources = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "importer").rglob("*.py") if path.parent.name != "codes"
    )
    assert [code for code in CODES if f'"{code}"' not in sources] == []
