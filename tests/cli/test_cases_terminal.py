"""What reaches the terminal: nothing of a stranger's that could move it, in any encoding, width or mood."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from importer.cli import main
from tests.builders.packages import as_json, below, skill, skill_md, specialist
from tests.builders.zips import Item, archive
from tests.cli.child import INTERRUPTED_AT, child, surroundings
from tests.cli.conftest import run_importer
from tests.cli.scene import Scene, raw_characters

HOSTILE = "a\x1b[31mred\x1b]0;title\x07\x9b2J\u202eevil\u2066\u200b\u00ad\ufeff\U000e0041\U000e007f\u2028end"
QUOTED = json.dumps(HOSTILE)


def every_view(scene: Scene, *words: object) -> str:
    """Run a command in both views, plain and verbose; return the human text, after a look for raw characters."""
    text = ""
    for extra in ((), ("--verbose",), ("--json",)):
        done = scene.run(*words, *extra)
        assert not raw_characters(done.out + done.err)
        if extra == ("--json",):
            assert done.out.isascii()
        else:
            text += done.out + done.err
    return text


def test_hostile_text_in_a_skill(scene: Scene) -> None:
    """Description, licence, metadata, body: escaped wherever they are shown, and still readable."""
    front = f"name: demo\ndescription: {QUOTED}\nlicense: {QUOTED}\nmetadata:\n  author: {QUOTED}\n  version: {QUOTED}"
    data = f"---\n{front}\n---\n{HOSTILE}\n".encode()
    source = scene.zip({"demo/SKILL.md": data})
    text = every_view(scene, "preview", source)
    assert "\\x1b[31mred" in text
    assert "\\u202eevil" in text
    assert "\\U000e0041" in text
    assert "text-hidden-characters" in text
    scene.install(source)
    for words in (("list",), ("show", "demo"), ("verify",), ("history",), ("remove", "skill", "demo")):
        every_view(scene, *words)


def test_hostile_names_of_files_and_skills(scene: Scene) -> None:
    """In what is refused as well: the archive's name, its entries, a folder, the frontmatter, its errors."""
    name = "demo/" + HOSTILE.replace("/", "")
    every_view(scene, "preview", scene.raw(archive([Item(), Item(name=name.encode())])))
    odd = scene.place("odd\x1b[2J\u202e.zip")
    odd.write_bytes(scene.zip(skill("demo")).read_bytes())
    assert "odd\\x1b[2J" in every_view(scene, "preview", odd)
    tree = scene.tree({f"a{HOSTILE}/SKILL.md": skill_md("demo")}, "tree")
    assert "path-unsafe" in every_view(scene, "preview", tree)
    for text in (
        f"name: {QUOTED}\ndescription: x",
        f"name: demo\ndescription: x\n{QUOTED}: y",
        f"name: demo\n{HOSTILE}: [",
    ):
        every_view(scene, "preview", scene.zip({"demo/SKILL.md": f"---\n{text}\n---\n".encode()}))


def test_hostile_text_in_a_specialist_and_a_connector(scene: Scene) -> None:
    files = specialist(None, {"description": HOSTILE, "system_prompt": HOSTILE, "display_name": HOSTILE[:70]})
    source = scene.zip(files)
    assert "\\x1b[31mred" in every_view(scene, "preview", source)
    every_view(scene, "preview", scene.zip(specialist({"id": HOSTILE, HOSTILE: 1}, {"name": HOSTILE}), "bad.zip"))
    server = {"command": HOSTILE, "args": [HOSTILE], "env": {HOSTILE: "x"}, HOSTILE: 1}
    every_view(scene, "preview", scene.raw(as_json({"mcpServers": {HOSTILE: server, "b": server}}), "c.json"))
    scene.install(source)
    every_view(scene, "list")


def test_hostile_words_on_the_command_line(scene: Scene) -> None:
    """A name that is pasted from somewhere is as foreign as a package."""
    good = scene.zip(skill("demo"))
    for words in (
        (HOSTILE,),
        ("show", HOSTILE),
        ("preview", HOSTILE),
        ("preview", "./" + HOSTILE),
        ("preview", good, "--skill", HOSTILE),
        ("preview", good, "--budget", HOSTILE),
        ("preview", good, "--choose", HOSTILE),
        ("preview", good, "--name-encoding", HOSTILE.replace("\0", "")),
        ("remove", HOSTILE, "x"),
        ("rollback", HOSTILE),
        ("export", HOSTILE),
        ("export", "connector", "x", "--client", HOSTILE),
        ("--" + HOSTILE,),
    ):
        every_view(scene, *words)


# --- terminals -------------------------------------------------------------------------------------------------------


def folders(tmp_path: Path) -> Path:
    """Make the folders of a child's surroundings, and a package with letters of many scripts."""
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    data = "---\nname: demo\ndescription: Prüft Tabellen – 表格审查 🙂\n---\n# Größe\n".encode()
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "SKILL.md").write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_cannot_show_a_letter_gets_its_escape(tmp_path: Path, encoding: str) -> None:
    folder = folders(tmp_path)
    done = child(folder, "preview", "./demo", PYTHONIOENCODING=encoding, LC_ALL="C")
    assert done.status == 0
    text = done.out.decode(encoding)
    assert "tabellen" in text.lower()
    assert ("\\u8868" in text) is (encoding != "utf-8")
    assert list((folder / "home").iterdir()) == list((folder / "temporary").iterdir()) == []


def on_a_terminal(folder: Path, *words: str, answers: str = "", status: int = 0, **changes: str) -> str:
    """Run the command with a terminal on stdout and stderr, and on stdin for answers; return what it showed."""
    main_end, child_end = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "importer", *words],
            env=surroundings(folder, TERM="xterm-256color", COLUMNS="80", **changes)
            if "TERM" not in changes
            else surroundings(folder, COLUMNS="80", **changes),
            cwd=folder,
            stdin=child_end if answers else subprocess.DEVNULL,
            stdout=child_end,
            stderr=child_end,
        )
        os.write(main_end, answers.encode())
    finally:
        os.close(child_end)
    shown = b""
    with open(main_end, "rb", buffering=0) as terminal:
        try:
            while data := terminal.read(65536):
                shown += data
        except OSError:
            pass  # Linux ends a terminal with EIO once its last writer is gone.
    assert process.wait(60) == status
    return shown.decode()


def test_questions_are_answered_on_a_terminal(tmp_path: Path) -> None:
    """A no is no consent: exit 4, nothing changed. What --yes never answers is asked one by one."""
    folder = folders(tmp_path)
    installed = folder / "library/skills/demo/SKILL.md"
    text = on_a_terminal(folder, "install", "./demo", answers="n\n", status=4)
    assert "nothing was installed: the answer was no" in text
    assert not installed.exists()
    assert list((folder / "library/.importer/staging").iterdir()) == []
    on_a_terminal(folder, "install", "./demo", answers="y\n")
    before = installed.read_bytes()
    (folder / "demo/SKILL.md").write_bytes(before + b"More.\n")
    for answers in ("s\n", "t\nn\n", "k\nn\n"):
        on_a_terminal(folder, "install", "./demo", answers=answers, status=4)
    assert installed.read_bytes() == before
    on_a_terminal(folder, "install", "./demo", answers="t\ny\n")
    assert installed.read_bytes() == before + b"More.\n"
    assert "nothing was removed" in on_a_terminal(folder, "remove", "skill", "demo", answers="n\n", status=4)
    assert installed.exists()
    on_a_terminal(folder, "remove", "skill", "demo", answers="y\n")
    assert not installed.exists()


def test_colours_are_for_terminals_that_want_them(tmp_path: Path) -> None:
    """NO_COLOR, TERM=dumb and --no-color turn them off; the words are the same."""
    folder = folders(tmp_path)
    coloured = on_a_terminal(folder, "preview", "./demo")
    assert "\x1b[" in coloured
    plain = [
        on_a_terminal(folder, "preview", "./demo", NO_COLOR="1"),
        on_a_terminal(folder, "preview", "./demo", TERM="dumb"),
        on_a_terminal(folder, "preview", "./demo", "--no-color"),
    ]
    for text in plain:
        assert "\x1b" not in text
        assert "install   demo" in text


def test_a_pipe_that_is_closed_is_no_fault(tmp_path: Path) -> None:
    """`importer … | head -1` ends quietly."""
    folder = folders(tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "importer", "preview", "./demo", "--verbose"],
            env=surroundings(folder),
            cwd=folder,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode in {0, 1}
    assert done.stderr == b""


@pytest.mark.parametrize(("verb", "points"), [("preview", (2, 8, 16)), ("install", (3, 10, 19, 28, 37))])
def test_an_interrupt_leaves_nothing_half_done(quick: Path, verb: str, points: tuple[int, ...]) -> None:
    """SIGINT at operations all the way through: nothing or everything, no traceback, no staging, and a retry works."""
    folder = folders(quick)
    library = folder / "library"
    words = [verb, "./demo", *(["--yes"] if verb == "install" else [])]
    interrupted = 0
    for point in points:
        done = child(folder, point, *words, code=INTERRUPTED_AT)
        assert done.status in {0, 130}, done.err
        installed = (library / "skills" / "demo" / "SKILL.md").exists()
        listed = run_importer("list", "--json", "--library", library).json["skills"]
        assert [skill["name"] for skill in listed] == (["demo"] if installed else [])
        assert list((folder / "home").iterdir()) == list((folder / "temporary").iterdir()) == []
        if done.status == 130:
            interrupted += 1
            assert b"importer: stopped" in done.err
            assert list((library / ".importer" / "staging").rglob("*")) == []
        if installed:
            break
    assert interrupted >= 2
    assert run_importer("install", folder / "demo", "--yes", "--library", library).status == 0
    assert run_importer("verify", "--library", library).status == 0


# --- options ---------------------------------------------------------------------------------------------------------


def test_common_options_stand_before_or_after(scene: Scene) -> None:
    """After the command wins; every command takes all of them."""
    source = scene.zip(skill("demo"))
    other = scene.folder / "packages" / "other"
    flags = ("--json", "--quiet", "--verbose", "--no-color", "--no-progress", "--library", other)
    before, after = scene.run(*flags, "preview", source), scene.run("preview", source, *flags)
    assert before.status == after.status == 0
    assert before.json["plan_digest"] == after.json["plan_digest"]
    assert scene.run("--library", scene.library, "install", source, "--yes", "--library", other).status == 0
    assert (other / "skills/demo/SKILL.md").exists()
    assert not (scene.library / "skills").exists()
    commands = ("list", "show demo", "verify", "history", "budgets", "doctor", "outdated")
    for words in commands:
        for done in (scene.run(*flags, *words.split()), scene.run(*words.split(), *flags)):
            assert done.status == 0, done.out
            assert done.json["schema"].startswith("importer/")


def test_quiet_says_nothing_beside_the_result(scene: Scene) -> None:
    """An error is still said; the result is still there."""
    source = scene.zip(below("demo", skill("demo")) | {"README.md": b"x"})
    done = scene.run("--quiet", "install", source, "--yes")
    assert (done.status, done.err) == (0, "")
    assert "installed skill demo" in done.out
    assert scene.run("--quiet", "preview", source).out
    assert scene.run("--quiet", "show", "nobody").err


def test_nothing_is_asked_where_nobody_can_answer(scene: Scene) -> None:
    """Output that is a file or a pipe changes how things are printed, never what is agreed to."""
    source = scene.zip(skill("demo"))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert main(["install", str(source)]) == 4
        assert main(["--json", "install", str(source)]) == 4
    assert scene.installed() == {}
    assert scene.staged() == []


def test_lines_fit_the_terminal(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 80 columns only what cannot be broken is longer: a path, a command to type."""
    monkeypatch.setenv("COLUMNS", "80")
    files = below("demo", skill("demo", extra="version: 1.0.0\nallowed-tools: [a, b]")) | {"bad/SKILL.md": b"# no\n"}
    look = scene.look(scene.zip(files))
    long = [line for line in look.human.splitlines() if len(line) > 80]
    assert all(str(scene.folder) in line for line in long), long
