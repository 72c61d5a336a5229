"""Connectors through the same command: preview, install, export, merge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SECRET = "ghp_" + "A1b2C3d4" * 5
CONFIG = {
    "mcpServers": {
        "github": {"command": "npx", "args": ["-y", "server-github"], "env": {"GITHUB_TOKEN": SECRET}},
        "docs": {"type": "http", "url": "https://docs.example/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}},
    }
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A client's configuration with secrets in it."""
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(CONFIG))
    return path


def holds(folder: Path, text: str) -> list[Path]:
    """Every file below a folder that holds `text`, the library's own included."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_connectors_install_without_a_secret(run: Run, library: Path, config: Path) -> None:
    """Names are kept, values are dropped and said, and no byte of them is anywhere in the library or the output."""
    shown = run("preview", config, "--json")
    assert shown.status == 0, shown.out
    assert {c["name"]: c["secrets"] for c in shown.json["connectors"]} == {
        "docs": ["Authorization"],
        "github": ["GITHUB_TOKEN"],
    }
    assert holds(library, SECRET) == []
    done = run("install", shown.json["token"], "--json")
    assert done.status == 0
    assert {item["name"] for item in done.json["installed"]} == {"docs", "github"}
    human = run("preview", config)
    for output in (shown, done, human, run("list", "--json"), run("show", "github", "--json")):
        assert SECRET not in output.out + output.err
    assert holds(library, SECRET) == []
    again = run("preview", config, "--json")
    assert {c["reason"] for c in again.json["connectors"]} == {"identical"}
    assert run("verify").status == 0


def test_a_changed_connector_is_a_conflict(run: Run, library: Path, config: Path) -> None:
    """The same table holds for connectors."""
    assert run("install", config, "--yes").status == 0
    changed = json.loads(config.read_text())
    changed["mcpServers"]["github"]["args"].append("--read-only")
    config.write_text(json.dumps(changed))
    shown = run("preview", config, "--json")
    assert shown.status == 4
    assert shown.json["needs"]["choices"] == ["github"]
    words = ["--choose", "github=incoming", "--confirm-overwrite", "--yes", "--json"]
    done = run("install", config, *words)
    assert done.status == 0
    assert [item["name"] for item in done.json["replaced"]] == ["github"]


def test_a_credential_in_the_arguments(run: Run, tmp_path: Path) -> None:
    """A certain one refuses; a likely one asks, and --yes does not answer it."""
    certain = tmp_path / "certain.json"
    certain.write_text(json.dumps({"mcpServers": {"a": {"command": "x", "args": ["--token", SECRET]}}}))
    refused = run("preview", certain, "--json")
    assert refused.status == 3
    fault = next(d for d in refused.json["diagnostics"] if d["code"] == "connector-secret-embedded")
    assert "args[1]" in fault["path"] or "args[1]" in fault["message"]
    assert SECRET not in refused.out + refused.err


def test_a_likely_credential_asks(run: Run, tmp_path: Path) -> None:
    """exit 4 until somebody vouches for it by its place."""
    likely = tmp_path / "likely.json"
    likely.write_text(
        json.dumps({"mcpServers": {"a": {"command": "x", "args": ["serve", "q8Zt5vYw2Lk9Xc7Bn4Mj1Hg6Fd3Sa0Pq"]}}})
    )
    shown = run("preview", likely, "--json")
    assert shown.status == 4, shown.out
    assert shown.json["connectors"][0]["asks"] == ["args[1]"]
    assert shown.json["token"] is None
    assert run("install", likely, "--yes", "--json").status == 4
    assert run("install", likely, "--yes", "--allow-arg", "a:1", "--json").status == 0


def test_export_prints_the_document_alone(run: Run, config: Path) -> None:
    """stdout is the document; limitations are on stderr; --json is one object with both."""
    assert run("install", config, "--yes").status == 0
    plain = run("export", "connector", "github", "--client", "claude-desktop")
    assert json.loads(plain.out)["mcpServers"]["github"]["command"] == "npx"
    assert plain.err
    report = run("export", "connector", "github", "--client", "claude-desktop", "--json").json
    assert json.loads(report["document"]) == json.loads(plain.out)
    assert report["limitations"]
    unknown = run("export", "connector", "github", "--client", "nope", "--json")
    assert unknown.status == 2
    assert "cursor" in unknown.json["message"]
    assert run("export", "connector", "nobody").status == 1


def test_a_merge_keeps_everything_else(run: Run, config: Path, tmp_path: Path) -> None:
    """One backup, the same mode, a link that stays a link; a server that differs needs a choice."""
    assert run("install", config, "--yes").status == 0
    real = tmp_path / "real.json"
    own = '"own": {"command": "a", "env": {"K": "private"}}'
    text = f'{{\r\n\t// mine\r\n\t"mcpServers": {{{own}}},\r\n\t"theme": 1\r\n}}\r\n'
    real.write_bytes(text.encode())
    real.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    dry = run("export", "connector", "github", "--client", "gemini-cli", "--merge", link, "--dry-run")
    assert dry.status == 0, dry.err
    assert real.read_bytes() == text.encode()
    assert "private" not in dry.out + dry.err
    done = run("export", "connector", "github", "--client", "gemini-cli", "--merge", link, "--json")
    assert done.status == 0, done.out
    after = real.read_bytes().decode()
    assert link.is_symlink()
    assert "// mine\r\n" in after
    assert own in after
    assert real.stat().st_mode & 0o777 == 0o600
    backups = [path for path in tmp_path.iterdir() if "backup" in path.name]
    assert [path.read_bytes() for path in backups] == [text.encode()]
    assert backups[0].stat().st_mode & 0o077 == 0
    real.write_text(after.replace("server-github", "server-other"))
    conflict = run("export", "connector", "github", "--client", "gemini-cli", "--merge", link, "--json")
    assert conflict.status == 4
    kept = run(
        "export", "connector", "github", "--client", "gemini-cli", "--merge", link, "--choose", "github=installed"
    )
    assert kept.status == 0
    assert "server-other" in real.read_text()
    words = ["--choose", "github=incoming", "--confirm-overwrite"]
    assert run("export", "connector", "github", "--client", "gemini-cli", "--merge", link, *words).status == 0
    assert "server-github" in real.read_text()


def test_merging_into_the_default_place_says_which(run: Run, library: Path, config: Path) -> None:
    """Without a file the client's own place is used, and named."""
    assert run("install", config, "--yes").status == 0
    done = run("export", "connector", "github", "--client", "cursor", "--merge")
    assert done.status == 0, done.err
    place = library.parent / "home" / ".cursor" / "mcp.json"
    assert str(place) in done.out
    assert json.loads(place.read_text())["mcpServers"]["github"]["env"] == {"GITHUB_TOKEN": "${env:GITHUB_TOKEN}"}
    assert place.stat().st_mode & 0o777 == 0o600


def test_doctor_looks_at_a_client(run: Run, tmp_path: Path) -> None:
    """What a client would ignore is reported, and nothing is changed."""
    place = tmp_path / "mcp.json"
    place.write_text('{"mcpServers": {"a": {"url": "https://x.example/mcp"}}}')
    before = place.read_bytes()
    report = run("doctor", "--client", "claude-code", "--file", place, "--json")
    assert report.status == 6
    assert report.json["diagnostics"]
    assert place.read_bytes() == before
    assert run("doctor", "--client", "claude-code", "--file", tmp_path / "none.json").status == 1


def test_a_connector_that_vanishes_is_stale(run: Run, config: Path) -> None:
    """A specialist that named it was previewed with it; installing without it is another plan."""
    from tests.builders.packages import specialist
    from tests.builders.trees import make_tree

    assert run("install", config, "--yes").status == 0
    folder = make_tree(config.parent / "team", specialist(document_changes={"connector_ids": ["github"]}))
    shown = run("preview", folder, "--json")
    assert shown.status == 0, shown.out
    assert run("remove", "connector", "github", "--yes").status == 0
    assert run("install", shown.json["token"], "--json").status == 5
