"""config.toml: every key is known, every fault is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.diagnostics import Rejected
from importer.library import Library
from importer.library.config import MAX_BYTES, read_config

GOOD = """
[host]
skills = { pdf = "1.2.0" }
connectors = ["pubmed"]
specialists = ["reviewer"]
specialist_names = ["Reviewer"]
[budgets.skill]
files = 20000
[budgets.trash]
days = 7
[github.hosts."Git.example.com"]
api = "https://git.example.com/api/v3"
"""


def test_a_good_configuration(tmp_path: Path) -> None:
    path = tmp_path / ".importer/config.toml"
    path.parent.mkdir()
    path.write_text(GOOD)
    with Library.open(tmp_path) as library:
        config = library.config
        assert library.snapshot(skills=[]).host == config.host
    assert dict(config.host.skills) == {"pdf": "1.2.0"}
    assert (config.host.connectors, config.host.specialists) == (frozenset({"pubmed"}), frozenset({"reviewer"}))
    assert config.host.specialist_names == frozenset({"Reviewer"})
    assert [(o.profile, o.limit, o.value, o.by) for o in config.overrides] == [
        ("skill", "files", 20000, "config.toml"),
        ("trash", "days", 7, "config.toml"),
    ]
    assert dict(config.github_hosts) == {"git.example.com": "https://git.example.com/api/v3"}


def test_none_is_an_empty_one(tmp_path: Path) -> None:
    assert read_config(str(tmp_path / "none.toml")).overrides == ()
    assert read_config(str(tmp_path / "none/none.toml")).overrides == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hosts]", "hosts: unknown"),
        ("host = 3", "host: expected a table, not a number"),
        ("[host]\nskills = ['pdf']", "host.skills: expected a table, not a list"),
        ("[host.skills]\npdf = 1", "host.skills.pdf: expected a version"),
        ("[host]\nconnectors = 'pubmed'", "host.connectors: expected a list of names"),
        ("[host]\nspecialists = ['']", "host.specialists: expected a list of names"),
        ("[budgets.skil]\nfiles = 1", "budgets.skil.files: no budget profile"),
        ("[budgets.skill]\nfile = 1", "budgets.skill.file: profile skill has no limit"),
        ("[budgets.skill]\nfiles = '1'", "budgets.skill.files: skill.files: expected a positive whole number"),
        ("[budgets.skill]\nfiles = true", "expected a positive whole number"),
        ("[budgets.skill]\nfiles = 0", "expected a positive whole number"),
        ("[budgets]\nskill = 3", "budgets.skill: expected a table"),
        ("[github.host]", "github.host: unknown"),
        ("[github.hosts.a]\nurl = 'x'", "github.hosts.a.url: unknown"),
        ("[github.hosts.a]\napi = 'ftp://x'", "github.hosts.a.api: expected the address"),
        ("[github.hosts.a]\napi = 'https://user:secret@x'", "github.hosts.a.api: expected the address"),
        ("x = [", "it is not TOML"),
        ("'\\u202e' = 1", "unknown"),
    ],
)
def test_each_fault_is_said_with_its_key(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(Rejected) as caught:
        read_config(str(path))
    assert all((d.code, d.path) == ("config-invalid", str(path)) for d in caught.value.diagnostics)
    assert any(said in d.message and str(path) in d.message for d in caught.value.diagnostics), caught.value
    assert "secret" not in str(caught.value)


def test_all_faults_are_said_together(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("x = 1\n[host]\nconnectors = 3\n[budgets.skill]\nfiles = 0\n")
    with pytest.raises(Rejected) as caught:
        read_config(str(path))
    assert len(caught.value.diagnostics) == 3


def test_what_is_no_text_or_too_much_is_said(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    for data, said in ((b"\xff", "not UTF-8"), (b"#" * (MAX_BYTES + 1), "more than")):
        path.write_bytes(data)
        with pytest.raises(Rejected, match=said):
            read_config(str(path))
    path.unlink()
    path.mkdir()
    with pytest.raises(Rejected, match="is a folder"):
        read_config(str(path))
