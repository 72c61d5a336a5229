"""The parts of README that are made from the code. `python -m tests.docs.generated` writes them; a test compares."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)


def budgets() -> str:
    """Return the table of limits."""
    from budgets import DEFAULTS

    lines = ["| profile.limit | most | unit | what it counts |", "|---|---:|---|---|"]
    for profile in DEFAULTS:
        lines += [f"| `{profile.name}.{x.name}` | {x.max:,} | {x.unit} | {x.what} |" for x in profile.limits]
    return "\n".join(lines)


def codes() -> str:
    """Return the table of codes."""
    from importer.codes import CODES

    lines = ["| code | meaning | what to do |", "|---|---|---|"]
    lines += [f"| `{code}` | {meaning} | {do} |".replace("<", "&lt;") for code, (meaning, do) in sorted(CODES.items())]
    return "\n".join(lines)


def commands() -> str:
    """Return each command with its first line of help."""
    import click

    from importer.cli.main import COMMANDS, group

    context = click.Context(group)
    lines = ["| command | what it does |", "|---|---|"]
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        usage = " ".join(
            parameter.make_metavar(click.Context(command))
            for parameter in command.params
            if isinstance(parameter, click.Argument)
        )
        shown = f"importer {name} {usage}".rstrip().replace("|", "\\|")
        lines.append(f"| `{shown}` | {command.get_short_help_str(200)} |")
    lines.append("")
    lines.append("Common options stand before or after the command; `importer COMMAND --help` lists the others.")
    return "\n".join(lines)


class Terminal:
    """Runs commands in a scratch folder with the samples beside it, and writes them down as a person would see them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "home").mkdir()
        (folder / "samples").symlink_to(ROOT / "samples")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "PYTHONPATH": str(ROOT),
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "IMPORTER_LIBRARY": "library",
            "LC_ALL": "C.UTF-8",
        }
        self.lines: list[str] = []

    def run(self, command: str, *, show: bool = True) -> str:
        """Run one command line that starts with `importer`."""
        words = command.split()
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if show:
            self.lines += [f"$ {command}", *(done.stdout + done.stderr).rstrip("\n").split("\n")]
            if done.returncode:
                self.lines.append(f"(exit {done.returncode})")
            self.lines.append("")
        return done.stdout

    def text(self) -> str:
        """Return what was seen, with the random parts made the same each time."""
        text = "\n".join(self.lines).rstrip()
        text = text.replace(str(self.folder) + "/", "")
        text = re.sub(r"imp_[A-Za-z0-9_-]{32}", "imp_4qJ2…", text)
        return re.sub(r"transaction [A-Za-z0-9_.-]+", "transaction 20260102-030405-1a2b", text)


def transcript() -> str:
    """Return a session from preview to export, as it really prints."""
    with tempfile.TemporaryDirectory() as name:
        terminal = Terminal(Path(name).resolve())
        terminal.run("importer preview samples/field-analyst")
        token = re.findall(r"imp_[A-Za-z0-9_-]{32}", "\n".join(terminal.lines))[0]
        terminal.run(f"importer install {token}")
        terminal.run("importer list")
        terminal.run("importer verify")
        terminal.run("importer export skill table-audit --output table-audit.zip")
        terminal.run("importer preview table-audit.zip --quiet")
        return f"```console\n{terminal.text()}\n```"


def json_reports() -> str:
    """Return the keys of each report, read off real ones."""
    with tempfile.TemporaryDirectory() as name:
        terminal = Terminal(Path(name).resolve())
        preview = json.loads(terminal.run("importer preview samples/field-analyst --json", show=False))
        install = json.loads(terminal.run(f"importer install {preview['token']} --json", show=False))
        listing = json.loads(terminal.run("importer list --json", show=False))
        failed = json.loads(terminal.run("importer preview nothing-here --json", show=False))
    lines = ["| schema | keys |", "|---|---|"]
    lines += [
        f"| `{report['schema']}` | {', '.join(f'`{key}`' for key in report if key != 'schema')} |"
        for report in (preview, install, listing, failed)
    ]
    parts = {
        "skills[]": preview["skills"][0],
        "diagnostics[]": preview["diagnostics"][0] if preview["diagnostics"] else {},
        "budgets[]": preview["budgets"][0],
        "source": preview["source"],
        "package": preview["package"],
        "needs": preview["needs"],
    }
    lines += [f"| preview: `{part}` | {', '.join(f'`{key}`' for key in value)} |" for part, value in parts.items()]
    return "\n".join(lines)


def clients() -> str:
    """Return the table of clients."""
    from importer.exporters.clients import table

    return table().rstrip("\n")


PARTS = {
    "budgets": budgets,
    "clients": clients,
    "codes": codes,
    "commands": commands,
    "transcript": transcript,
    "json": json_reports,
}


def fill(text: str) -> str:
    """Return README's text with every generated block made anew."""

    def block(match: re.Match[str]) -> str:
        return f"{match.group(1)}{PARTS[match['name']]()}\n{match.group(4)}"

    return _BLOCK.sub(block, text)


if __name__ == "__main__":
    README.write_text(fill(README.read_text(encoding="utf-8")), encoding="utf-8")
