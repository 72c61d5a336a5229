"""Clients' own files from the command line: what is printed, what is refused, and a file that changes meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.app import clients
from importer.exporters import Client, MergeResult, Rendered, merge
from importer.model import Choices
from tests.cli.child import child
from tests.cli.conftest import Done, Run

TEMPLATE = {
    "schema_version": 1,
    "kind": "open-science.connector",
    "name": "tide",
    "display_name": "Tide",
    "transport": "stdio",
    "command": "uvx",
    "args": ["tide", "größe"],
    "required_secrets": {"environment": ["TIDE_TOKEN"]},
}
OPAQUE = "q8Zt5vYw2Lk9Xc7Bn4Mj1Hg6Fd3Sa0Pq"


def write(place: Path, document: object) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return place


def servers(**entries: object) -> dict[str, object]:
    return {"mcpServers": entries}


@pytest.fixture
def tide(run: Run, tmp_path: Path) -> str:
    """An installed connector."""
    assert run("install", write(tmp_path / "tide.json", TEMPLATE), "--yes").status == 0
    return "tide"


def found(done: Done, severity: str = "error") -> list[tuple[str, str]]:
    return [(d["code"], d["path"]) for d in done.json["diagnostics"] if d["severity"] == severity]


# --- what is printed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--client", "codex"], ["--client", "cursor"], ["--format", "template"]])
def test_a_document_has_the_same_bytes_in_every_locale(tmp_path: Path, words: list[str]) -> None:
    """Not the terminal's encoding: what is printed goes into a file that a client reads as UTF-8."""
    assert child(tmp_path, "install", write(tmp_path / "tide.json", TEMPLATE), "--yes").status == 0
    export = ["export", "connector", "tide", *words]
    plain = child(tmp_path, *export)
    ascii_only = child(tmp_path, *export, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii", TZ="Asia/Tokyo")
    printed = {plain.out, ascii_only.out}
    assert len(printed) == 1
    assert "größe" in printed.pop().decode("utf-8")


# --- a merge that is refused, or meets another writer ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        ("{", "merge-unparsable", ""),
        ("[]", "merge-parent-invalid", ""),
        ('{"mcpServers": null}', "merge-parent-invalid", "mcpServers"),
    ],
)
def test_a_refused_merge_is_said_once_with_its_place(
    run: Run, tide: str, tmp_path: Path, text: str, code: str, field: str
) -> None:
    place = write(tmp_path / "client" / "mcp.json", text)
    words = ["export", "connector", tide, "--client", "cursor", "--merge", place]
    done = run(*words, "--json")
    assert (done.status, found(done)) == (3, [(code, field or str(place))])
    message = done.json["diagnostics"][0]["message"]
    assert message in done.json["message"]
    human = " ".join(run(*words).err.split())
    assert human.count(message) == 1
    assert [path.name for path in place.parent.iterdir()] == ["mcp.json"]
    assert place.read_text() == text


def test_a_conflict_is_said_once_with_the_fields(run: Run, tide: str, tmp_path: Path) -> None:
    place = write(tmp_path / "mcp.json", servers(tide={"command": "other", "env": {"TIDE_TOKEN": "private"}}))
    done = run("export", "connector", tide, "--client", "cursor", "--merge", place, "--json")
    assert done.status == 4
    assert found(done) == [("decision-missing", ""), ("merge-conflict", "tide")]
    assert "env.TIDE_TOKEN" in done.json["diagnostics"][1]["message"]
    assert "private" not in done.out


def changing(monkeypatch: pytest.MonkeyPatch, change: Callable[[int], object]) -> None:
    """Let `change` happen each time between reading a file and writing it."""
    count = [0]

    def meanwhile(
        existing: bytes | None, rendered: Rendered, client: Client, choices: Choices, name: str
    ) -> MergeResult:
        result = merge(existing, rendered, client, choices, name)
        count[0] += 1
        change(count[0])
        return result

    monkeypatch.setattr(clients, "merge", meanwhile)


def test_a_file_that_changed_meanwhile_is_read_again(
    run: Run, tide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write(tmp_path / "client" / "mcp.json", servers(first={"command": "a"}))
    theirs = json.dumps(servers(first={"command": "a"}, second={"command": "b"}))
    changing(monkeypatch, lambda count: place.write_text(theirs) if count == 1 else None)
    assert run("export", "connector", tide, "--client", "cursor", "--merge", place).status == 0
    assert list(json.loads(place.read_text())["mcpServers"]) == ["first", "second", "tide"]
    backups = [path for path in place.parent.iterdir() if path != place]
    assert [path.read_text() for path in backups] == [theirs]


def test_a_file_that_changes_into_a_conflict_leaves_nothing_behind(
    run: Run, tide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write(tmp_path / "client" / "mcp.json", servers())
    theirs = json.dumps(servers(tide={"command": "theirs"}))
    changing(monkeypatch, lambda _: place.write_text(theirs))
    assert run("export", "connector", tide, "--client", "cursor", "--merge", place).status == 4
    assert [path.name for path in place.parent.iterdir()] == ["mcp.json"]
    assert place.read_text() == theirs


def test_a_file_that_never_rests_is_left_alone(
    run: Run, tide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write(tmp_path / "client" / "mcp.json", servers())
    changing(monkeypatch, lambda count: place.write_text(json.dumps({"count": count})))
    done = run("export", "connector", tide, "--client", "cursor", "--merge", place, "--json")
    assert (done.status, done.json["code"]) == (1, "merge-file-changes")
    assert json.loads(place.read_text()) == {"count": clients.MERGE_ATTEMPTS}
    assert [path.name for path in place.parent.iterdir()] == ["mcp.json"]


# --- doctor ----------------------------------------------------------------------------------------------------------


def test_doctor_takes_a_file_by_its_place(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write(tmp_path / "mcp.json", servers(a={"url": "https://x.example/mcp"}))
    named = run("doctor", "--client", "claude-code", "--file", place, "--json")
    plain = run("doctor", "--client", "claude-code", place, "--json")
    assert (plain.status, plain.json) == (6, named.json)
    assert run("doctor", place).status == 2
    assert run("doctor", "--client", "cursor", place, "--file", place).status == 2
    monkeypatch.setattr(clients, "MAX_CONFIG", 10)
    large = run("doctor", "--client", "claude-code", place, "--json")
    assert (large.status, large.json["code"]) == (3, "merge-too-large")


# --- what somebody vouches for ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["tide", "tide:", "tide:-1", "tide:x", ":1", "tide:1.5"])
def test_allow_arg_has_a_form(run: Run, tmp_path: Path, text: str) -> None:
    place = write(tmp_path / "mcp.json", servers(tide={"command": "x"}))
    done = run("preview", place, "--allow-arg", text, "--json")
    assert (done.status, done.json["code"]) == (2, "usage")


@pytest.mark.parametrize("name", ["my-tide", "My Tide", "connector:my-tide"])
def test_allow_arg_counts_from_0_and_says_what_it_did_not_need(run: Run, tmp_path: Path, name: str) -> None:
    place = write(tmp_path / "mcp.json", {"mcpServers": {"My Tide": {"command": "x", "args": ["serve", OPAQUE]}}})
    done = run("preview", place, "--allow-arg", f"{name}:1", "--json")
    assert (done.status, found(done, "warning")) == (0, [])
    wrong = run("preview", place, "--allow-arg", f"{name}:0", "--json")
    assert wrong.status == 4
    assert ("connector-allow-unused", "") in found(wrong, "warning")


def test_what_is_there_already_is_not_asked_for_again(run: Run, tmp_path: Path) -> None:
    place = write(tmp_path / "mcp.json", servers(tide={"command": "x", "args": [OPAQUE]}))
    assert run("install", place, "--yes", "--allow-arg", "tide:0").status == 0
    again = run("preview", place, "--json")
    assert again.status == 0
    assert [c["reason"] for c in again.json["connectors"]] == ["identical"]
    assert run("install", place, "--yes").status == 0


# --- several documents, and TOML -------------------------------------------------------------------------------------


def test_a_connector_in_one_of_two_documents_can_be_chosen(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    write(folder / "mcp.json", servers(a={"command": "x"}, b={"command": "y"}))
    write(folder / ".mcp.json", servers(c={"command": "z"}))
    done = run("preview", folder, "--connector", "a", "--json")
    assert (done.status, [c["name"] for c in done.json["connectors"]]) == (0, ["a"])
    none = run("preview", folder, "--connector", "nope", "--json")
    assert none.status == 3
    assert [code for code, _ in found(none)] == ["connector-not-found"]


def test_the_same_connector_in_two_documents_is_taken_once(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    write(folder / "mcp.json", servers(a={"type": "streamable-http", "url": "https://x.example/mcp"}))
    write(folder / ".mcp.json", servers(a={"type": "http", "url": "https://x.example/mcp"}))
    done = run("preview", folder, "--json")
    assert (done.status, [c["name"] for c in done.json["connectors"]]) == (0, ["a"])
    assert ("connector-duplicate", "") in found(done, "info")
    write(folder / ".mcp.json", servers(a={"type": "http", "url": "https://y.example/mcp"}))
    other = run("preview", folder, "--json")
    assert (other.status, found(other)) == (3, [("connector-name-collision", "")])
    assert "mcp.json" in other.json["diagnostics"][-1]["message"]


@pytest.mark.parametrize("name", ["config.toml", "config.txt"])
def test_the_servers_of_a_toml_configuration(run: Run, library: Path, tmp_path: Path, name: str) -> None:
    text = 'model = "x"\n\n[mcp_servers.tide]\ncommand = "uvx"\nenv = { TIDE_TOKEN = "private-value" }\n'
    done = run("preview", write(tmp_path / name, text), "--json")
    assert done.status == 0, done.out
    assert [(c["name"], c["secrets"]) for c in done.json["connectors"]] == [("tide", ["TIDE_TOKEN"])]
    kept = [path for path in library.rglob("*") if path.is_file() and b"private-value" in path.read_bytes()]
    assert kept == []
    assert "private-value" not in done.out


def test_a_value_in_the_place_of_a_transport_is_not_repeated(run: Run, tmp_path: Path) -> None:
    done = run("preview", write(tmp_path / "mcp.json", servers(a={"command": "x", "type": "q8Zt5vYw2"})), "--json")
    assert (done.status, found(done)) == (3, [("connector-invalid", "type")])
    assert "q8Zt5vYw2" not in done.out
