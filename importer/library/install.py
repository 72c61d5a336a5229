"""An install: from a plan to the renames and the changes of the record that carry it out."""

from __future__ import annotations

import hashlib
import json
import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from importer import fs
from importer.diagnostics import Diagnostic, Fact, info, shown
from importer.library import transact
from importer.library.candidates import rfc3339, token_hash
from importer.library.disk import DiskTree, compare, read_items
from importer.library.errors import LibraryError, stale
from importer.library.layout import FOLDERS, item_name
from importer.library.rows import Change, Item, Move, State, Transaction
from importer.model import (
    Disposition,
    FileRecord,
    InstalledConnector,
    InstalledSkill,
    InstalledSpecialist,
    Reason,
    SpecialistCandidate,
)
from importer.paths import RelPath
from importer.records import record
from importer.staging import TREE, Part

if TYPE_CHECKING:
    from importer.library.stagings import Staging
    from importer.library.writer import Writer
    from importer.model import (
        ConnectorCandidate,
        Origin,
        Plan,
        PlannedConnector,
        PlannedSkill,
        PlannedSpecialist,
        SkillCandidate,
    )

NEW_SPECIALIST = json.dumps({"enabled": False, "setup_pending": True, "values": {}})
CONNECTORS = "importer-connectors"
"""The folder in staging that connectors are written to: no candidate is staged under that name."""
COMING = frozenset({Disposition.INSTALL, Disposition.REPLACE})


@record
class Outcome:
    """What became of one item."""

    kind: str
    name: str
    reason: str


@record
class Applied:
    """What a transaction did."""

    transaction: str
    installed: tuple[Outcome, ...] = ()
    replaced: tuple[Outcome, ...] = ()
    reused: tuple[Outcome, ...] = ()
    skipped: tuple[Outcome, ...] = ()
    removed: tuple[Outcome, ...] = ()
    released: tuple[Outcome, ...] = ()
    """Skills that stay, and belong to one specialist less."""
    restored: tuple[Outcome, ...] = ()
    """What a rollback brought back."""
    diagnostics: tuple[Diagnostic, ...] = ()


@record(kw_only=False)
class _Coming:
    """One item whose files go into the library."""

    kind: str
    name: str
    source: str
    replaced: InstalledSkill | InstalledConnector | InstalledSpecialist | None
    place: str
    item: Item
    owners: tuple[str, ...]
    settings: str | None = None


class Installation:
    def __init__(self, writer: Writer, staging: Staging, origin: Origin, token: str | None, command: str) -> None:
        self.layout = writer.layout
        self.record = writer.record
        self.staging = staging
        self.origin = origin
        self.token = token
        self.command = command
        self.id = transact.new_id()
        self.at = rfc3339(writer.library.clock())
        self.owners = writer.record.owners()
        self.expected: dict[str, DiskTree] = {}
        self.diagnostics: list[Diagnostic] = []
        self.lists: dict[Disposition, list[Outcome]] = {disposition: [] for disposition in Disposition}

    def run(self, plan: Plan) -> Applied:
        try:
            self._unpack(plan)
        except LibraryError:
            raise
        except FileNotFoundError as problem:
            raise stale("the folder of the staged files was removed meanwhile", self.layout.staging) from problem
        except OSError as problem:
            raise fs.explained(problem, self.layout.staging) from problem
        owner = self._owner(plan)
        coming: list[_Coming] = []
        changes: list[Change] = []
        if plan.specialist is not None:
            coming += self._specialist(plan.specialist)
        for skill in plan.skills:
            coming += self._skill(skill, owner, changes)
        for connector in plan.connectors:
            coming += self._connector(connector)
        if plan.specialist is not None and plan.specialist.disposition is Disposition.REPLACE:
            changes += self._released(plan.specialist)
        try:
            if coming:
                self.staging.folder.sync()
        except OSError as problem:
            raise fs.explained(problem, self.layout.staging) from problem
        self._check(coming)
        makes = self._folders(coming)
        moves: list[Move] = []
        try:
            for item in coming:
                moves += self._moves(item, changes)
            transaction = Transaction(
                id=self.id,
                at=self.at,
                command=self.command,
                verb="install",
                origin=self.origin,
                changes=tuple(changes),
                moves=tuple(moves),
                makes=makes,
                token=token_hash(self.token) if self.token is not None else None,
            )
            transact.execute(self.layout, self.record, transaction, self.expected)
        finally:
            self._drop_incoming(coming)
        return Applied(
            transaction=self.id,
            installed=tuple(self.lists[Disposition.INSTALL]),
            replaced=tuple(self.lists[Disposition.REPLACE]),
            reused=tuple(self.lists[Disposition.REUSE]),
            skipped=tuple(self.lists[Disposition.CONFLICT]),
            diagnostics=tuple(self.diagnostics),
        )

    # --- what comes ---

    def _owner(self, plan: Plan) -> str | None:
        """Return the specialist that owns what this package brings."""
        if plan.specialist is None or plan.specialist.reason is Reason.CHOSEN_INSTALLED:
            return None
        return plan.specialist.candidate.id

    def _tell(self, kind: str, name: str, disposition: Disposition, reason: Reason) -> bool:
        """Note what becomes of an item; return whether files of it come."""
        self.lists[disposition].append(Outcome(kind=kind, name=name, reason=reason.value))
        return disposition in COMING

    def _skill(self, planned: PlannedSkill, owner: str | None, changes: list[Change]) -> list[_Coming]:
        candidate = planned.candidate
        name = item_name("skill", candidate.name)
        place = planned.installed.name if planned.installed is not None else name
        before = self.owners.get(place, ())
        owners = tuple(sorted({*before, owner})) if owner is not None else before
        if not self._tell("skill", name, planned.disposition, planned.reason):
            if owners != before and before:
                # Another specialist brought it; from now on it stays until both let go.
                state = self.record.state("skill", place)
                after = State(item=state.item, owners=owners, settings=state.settings)
                changes.append(Change(kind="skill", name=place, action="owned", before=state, after=after))
            return []
        item = self._item("skill", candidate, candidate.files, {"root": candidate.root})
        return [_Coming("skill", name, self._staged(candidate.staged), planned.installed, place, item, owners)]

    def _specialist(self, planned: PlannedSpecialist) -> list[_Coming]:
        candidate = planned.candidate
        name = item_name("specialist", candidate.id)
        if not self._tell("specialist", name, planned.disposition, planned.reason):
            return []
        recorded = self.record.item("specialist", name)
        details: dict[str, Fact] = {
            "name": candidate.name,
            "display_name": candidate.display_name,
            "description": candidate.description,
            "skill_ids": list(candidate.skill_ids),
            "connector_ids": list(candidate.connector_ids),
            "bundled": list(candidate.bundled),
            "revision": recorded.revision + 1 if recorded is not None else 1,
        }
        item = self._item("specialist", candidate, candidate.files, details)
        source = self._staged(candidate.staged)
        return [_Coming("specialist", name, source, planned.installed, name, item, (), NEW_SPECIALIST)]

    def _connector(self, planned: PlannedConnector) -> list[_Coming]:
        candidate = planned.candidate
        name = item_name("connector", candidate.name)
        if not self._tell("connector", name, planned.disposition, planned.reason):
            return []
        path = RelPath.parse(f"{name}.json")
        try:
            self.staging.folder.write(CONNECTORS, path, candidate.template)
        except OSError as problem:
            raise fs.explained(problem, self.layout.full(self.layout.target("connector", name))) from problem
        files = (
            FileRecord(
                path=path,
                size=len(candidate.template),
                sha256=hashlib.sha256(candidate.template).hexdigest(),
                executable=False,
                mode_known=True,
            ),
        )
        details: dict[str, Fact] = {
            "display_name": candidate.display_name,
            "transport": candidate.transport,
            "secrets": list(candidate.secrets),
            "summary": candidate.summary,
        }
        item = self._item("connector", candidate, files, details)
        place = planned.installed.name if planned.installed is not None else name
        return [_Coming("connector", name, self._staged(f"{CONNECTORS}/{path}"), planned.installed, place, item, ())]

    def _item(
        self,
        kind: str,
        candidate: SkillCandidate | SpecialistCandidate | ConnectorCandidate,
        files: tuple[FileRecord, ...],
        details: dict[str, Fact] | None = None,
    ) -> Item:
        return Item(
            kind=kind,
            name=candidate.id if isinstance(candidate, SpecialistCandidate) else candidate.name,
            version=getattr(candidate, "version", ""),
            digest=candidate.digest,
            transaction=self.id,
            installed_at=self.at,
            origin=self.origin,
            files=files,
            details=MappingProxyType(details or {}),
        )

    def _staged(self, folder: str) -> str:
        return f".importer/staging/{self.staging.id}/{TREE}/{RelPath.parse(folder)}"

    def _unpack(self, plan: Plan) -> None:
        """Make files of what comes, and refuse where anything is no longer what the preview read."""
        every: list[PlannedSkill | PlannedSpecialist] = [*plan.skills]
        if plan.specialist is not None:
            every.append(plan.specialist)
        changed = self.staging.folder.unpack(
            [Part(one.candidate.staged, one.candidate.files, one.disposition in COMING) for one in every]
        )
        if changed:
            named = ", ".join(shown(path, 400) for path in changed[:3]) + (", …" if len(changed) > 3 else "")
            raise stale(f"staged files are no longer what the preview read ({named})")

    def _released(self, planned: PlannedSpecialist) -> list[Change]:
        changes: list[Change] = []
        for name in planned.releases:
            before = self.record.state("skill", name)
            owners = tuple(owner for owner in before.owners if owner != planned.candidate.id)
            after = State(item=before.item, owners=owners, settings=before.settings)
            changes.append(Change(kind="skill", name=name, action="released", before=before, after=after))
        return changes

    # --- what is there ---

    def _check(self, coming: list[_Coming]) -> None:
        """Refuse where what is on disk is not what the plan was made for; remember what is replaced as it is now."""
        replaced = [item for item in coming if item.replaced is not None]
        for item in coming:
            if item.replaced is None and self.layout.exists(item.kind, item.name):
                raise stale(f"{self._known(item)} appeared meanwhile", self.layout.target(item.kind, item.name))
        targets = [self.layout.full(self.layout.target(item.kind, item.place)) for item in replaced]
        try:
            trees = read_items(targets, targets)
        except FileNotFoundError as problem:
            raise stale(f"{shown(str(problem.filename), 400)} disappeared meanwhile") from problem
        for item, tree in zip(replaced, trees, strict=True):
            assumed = item.replaced
            executables = assumed.executables if isinstance(assumed, InstalledSkill) else tree.executables
            if assumed is None or tree.digest != assumed.digest or tree.executables != executables:
                raise stale(f"{self._known(item)} was changed meanwhile", self.layout.target(item.kind, item.place))
            self.expected[self.layout.trashed(item.kind, item.place, self.id)] = tree

    def _known(self, item: _Coming) -> str:
        return f"the {item.kind} {shown(item.name)}"

    # --- how it gets there ---

    def _folders(self, coming: list[_Coming]) -> tuple[str, ...]:
        """Return the folders of kinds that must be made; refuse what stands in the place of one."""
        made: list[str] = []
        for kind in dict.fromkeys(item.kind for item in coming):
            folder = self.layout.folder(kind)
            if os.path.isdir(folder):
                continue
            if os.path.islink(folder):
                raise LibraryError(
                    "disk-failed",
                    f"{shown(folder, 400)} is a link to {shown(os.readlink(folder), 400)}, which is no folder; "
                    "make that folder or remove the link",
                    folder,
                )
            if os.path.lexists(folder):
                raise LibraryError("disk-failed", f"{shown(folder, 400)} is no folder; move it away", folder)
            made.append(FOLDERS[kind])
        return tuple(made)

    def _moves(self, item: _Coming, changes: list[Change]) -> list[Move]:
        moves: list[Move] = []
        before = self.record.state(item.kind, item.place)
        taken = None
        tree = None
        if item.replaced is not None:
            taken = self.layout.trashed(item.kind, item.place, self.id)
            tree = self.expected[taken]
            moves.append(Move(source=self.layout.target(item.kind, item.place), target=taken))
            self._tell_edits(item, before, tree)
        moves.append(Move(source=self._beside(item), target=self.layout.target(item.kind, item.name)))
        settings = before.settings if before.settings is not None else item.settings
        after = State(item=item.item, owners=item.owners, settings=settings)
        if item.place != item.name:
            changes.append(Change(kind=item.kind, name=item.place, action="renamed", before=before, after=State()))
            before = State()
        changes.append(
            Change(
                kind=item.kind,
                name=item.name,
                action="replaced" if item.replaced is not None else "installed",
                before=before,
                after=after,
                taken=taken,
                taken_name=item.place if item.place != item.name else "",
                taken_digest=tree.digest if tree is not None else None,
                taken_executables=tree.executables if tree is not None else (),
            )
        )
        return moves

    def _tell_edits(self, item: _Coming, before: State, tree: DiskTree) -> None:
        if before.item is None:
            return
        difference = compare(tree, before.item.files)
        own = (*difference.modified, *difference.extra, *difference.executable)
        if own:
            named = ", ".join(shown(path) for path in own[:3]) + (", …" if len(own) > 3 else "")
            self.diagnostics.append(
                info(
                    "library-edits-trashed",
                    f"{self._known(item)} held {len(own)} files that were not as installed ({named}); they went to the "
                    f"trash with it, and `importer rollback {self.id}` brings them back",
                    self.layout.target(item.kind, item.place),
                    files=list(own[:20]),
                )
            )

    def _beside(self, item: _Coming) -> str:
        """Return where the files are staged on the file system that they go to, copied there where they are not."""
        if not self.layout.foreign(item.kind):
            return item.source
        incoming = f"{self.layout.area(item.kind)}/incoming/{self.id}"
        target = f"{incoming}/{self.layout.target(item.kind, item.name)}"
        try:
            fs.make_folders(os.path.dirname(target), 0o700)
            fs.copy_tree(self.layout.full(item.source), target)
            fs.sync_tree(target)
            fs.sync_folder(os.path.dirname(target))
        except OSError as problem:
            raise fs.explained(problem, self.layout.full(self.layout.target(item.kind, item.name))) from problem
        return target

    def _drop_incoming(self, coming: list[_Coming]) -> None:
        for kind in dict.fromkeys(item.kind for item in coming):
            area = self.layout.area(kind)
            if os.path.isabs(area) and not self.record.journal():
                transact.drop_incoming(area)
