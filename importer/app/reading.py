"""From an open container to a package: list, pass the gate, recognise, read the documents, select, stage the rest.

Each skill has its own findings. What is wrong with one skill never stops the others; what is wrong with a container,
and a budget that is spent, stops at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from budgets import BudgetExceeded, Meter
from importer.app.found import Found, Held, Meters
from importer.app.nested import open_nested
from importer.diagnostics import Diagnostic, Rejected, Severity, error, info, shown
from importer.digests import tree_digest
from importer.entries import admit, as_warning, copied_links
from importer.formats.layout import recognise
from importer.formats.limits import check_skill_budget
from importer.formats.review import review_files
from importer.formats.settle import select, selection_needed, settle_names
from importer.formats.skill import READ_BYTES, read_skill
from importer.model import LeftOut, SkillCandidate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from importer.app.opening import Opened
    from importer.app.request import Request
    from importer.model import Entry, Fault, FileRecord
    from importer.ports import Container, Progress
    from importer.staging import StagedFolder


class PackageReader:
    """Reads one source into a package. `diagnostics` and `left_out` grow as it goes."""

    def __init__(
        self, staged: StagedFolder, meters: Meters, request: Request, progress: Progress, *, bundled: bool = False
    ) -> None:
        self.staged = staged
        self.meters = meters
        self.request = request
        self.progress = progress
        self.bundled = bundled
        self.diagnostics: list[Diagnostic] = []
        self.left_out: list[LeftOut] = []
        self.selection_needed: tuple[str, ...] = ()
        self._folders = 0
        self._opened = ExitStack()

    def close(self) -> None:
        """Let go of the nested archives."""
        self._opened.close()

    def open(self, container: Container, prefix: str, *, inner: bool) -> Held:
        """List a container, pass the gate and recognise what is in it."""
        listed = container.list(self._charge_entries(prefix))
        tree = admit(listed, bundle=self.meters.bundle, archive=self.meters.archive)
        self.diagnostics += _prefixed(container.notes(), prefix)
        self.diagnostics += _prefixed(tree.notes, prefix)
        return Held(container, recognise(tree, inner=inner), prefix)

    def skills(self, opened: Opened, outer: Held) -> tuple[SkillCandidate, ...]:
        """Read, select and stage the skills of an open container, nested archives included."""
        every = [outer]
        found = self._roots(outer)
        if not self._named_by_folder(found, opened.label):
            for held in self._nested(outer):
                every.append(held)
                found += self._roots(held)
            self._read_documents([item for item in found if not item.asked_for], opened.label)
        for held in every:
            self.diagnostics += _prefixed(held.layout.notes, held.prefix)
            self.diagnostics += _prefixed(_loose(held.layout.faults), held.prefix)
        chosen = self._select(found)
        if self.selection_needed:
            return ()
        self._check(chosen)
        self._stage(chosen, every)
        self._say_damage(chosen, every)
        return self._candidates(chosen)

    def _roots(self, held: Held) -> list[Found]:
        return [Found(held, root, self._folder(), self.bundled) for root in held.layout.roots]

    def _named_by_folder(self, found: list[Found], label: str) -> bool:
        """Read only the documents whose folders are called what was asked for; return whether that was enough.

        From a disk every document is read: a skill may be called otherwise than its folder. Over a network one skill
        out of hundreds must not cost a request for each of them.
        """
        wanted = [word.removeprefix("skill:").rstrip("/") for word in self.request.skills]
        if not wanted or not found or found[0].held.container.kind != "github":
            return False
        likely = [item for item in found if item.root in wanted or item.place.path.rpartition("/")[2] in wanted]
        self._read_documents(likely, label)
        return all(any(word in {item.name, item.root} for item in likely) for word in wanted)

    # --- nested archives ---------------------------------------------------------------------------------------------

    def _nested(self, outer: Held) -> list[Held]:
        """Open the archives of a bundle one level deep. One that cannot be read is left out, by name.

        Where skills are selected by name, it is no error: the ones that are wanted are there, or said to be missing.
        """
        opened: list[Held] = []
        for entry in outer.layout.nested:
            prefix = f"{entry.path.text}!/"
            try:
                container = open_nested(outer.container, entry, self.staged, self.meters, self.request.name_encoding)
                self._opened.callback(container.close)
                held = self.open(container, prefix, inner=True)
            except Rejected as rejected:
                self._archive_left_out(entry, rejected.diagnostics)
                continue
            if not held.layout.roots:
                reason = error("package-unrecognised", f"{shown(entry.path.text)}: {held.layout.seen}", entry.path.text)
                self.diagnostics.append(as_warning(reason))
                self.left_out.append(
                    LeftOut(kind="archive", name=entry.path.name, root=entry.path.text, reason="no-skill")
                )
            opened.append(held)
        return opened

    def _archive_left_out(self, entry: Entry, reasons: Sequence[Diagnostic]) -> None:
        selected = bool(self.request.skills)
        found = [as_warning(d) for d in reasons] if selected else reasons
        self.diagnostics += _prefixed(found, f"{entry.path.text}!/")
        codes = tuple(dict.fromkeys(d.code for d in reasons))
        reason = "not-selected" if selected else "faulty"
        self.left_out.append(
            LeftOut(kind="archive", name=entry.path.name, root=entry.path.text, reason=reason, codes=codes)
        )

    # --- documents and selection -------------------------------------------------------------------------------------

    def _read_documents(self, found: list[Found], label: str) -> None:
        """Stage and read every SKILL.md. They are charged to a budget of their own: selection is still to come."""
        documents = self._documents_charge()
        for held in {id(f.held): f.held for f in found}.values():
            wanted: list[Entry] = []
            for item in found:
                document = item.place.document
                if item.held is not held or document is None:
                    continue
                try:
                    self.meters.skill.check("file_bytes", document.size, document.path.text)
                except BudgetExceeded:
                    # Said with the skill's other limits, once it is selected.
                    continue
                relative = item.document_path
                if relative is not None:
                    self.staged.place(document, item.folder, relative)
                    wanted.append(document)
            if wanted:
                self._hint(held, found)
                with self._damage(held):
                    held.container.deliver(wanted, self.staged, documents)
        for item in found:
            item.asked_for = True
            item.findings += item.place.findings
            self._read_document(item, label)

    @staticmethod
    def _hint(held: Held, found: list[Found]) -> None:
        """Tell a container that fetches what is going to be wanted next, so that one pass may serve for both."""
        hint = getattr(held.container, "hint", None)
        if hint is not None:
            hint([entry for item in found if item.held is held for entry in item.place.files])

    def _read_document(self, item: Found, label: str) -> None:
        document = item.place.document
        if document is None:
            return
        failed = _failures(item.held.container).get(document.path.text)
        if failed is not None:
            item.findings.append(failed)
            return
        relative = item.document_path
        records = {record.path: record for record in self.staged.records(item.folder)}
        if relative is None or relative not in records:
            return
        data = self.staged.read(item.folder, relative, READ_BYTES)
        item.reading = read_skill(
            data,
            complete=records[relative].size <= len(data),
            root=item.root,
            folder=item.place.folder if item.place.path else _folder_name(item.held.container),
            document_name=getattr(item.held.container, "document_name", document.path.name),
            fallback=item.place.fallback or (label if not item.place.path else ""),
            bundled=self.bundled,
        )

    def _select(self, found: list[Found]) -> list[Found]:
        """Return the skills that are wanted; too many of them, unasked, need a selection."""
        wanted = self.request.skills
        if not wanted:
            needed = selection_needed(found, self.meters.bundle.max("skills"))
            if needed is not None:
                self.diagnostics.append(needed)
                self.selection_needed = tuple(sorted(item.name for item in found))
                return []
        chosen, unknown = select(found, wanted)
        if unknown:
            raise Rejected([*unknown, *self.diagnostics])
        picked = {id(item) for item in chosen}
        self.left_out += [item.left_out("not-selected") for item in found if id(item) not in picked]
        self.meters.bundle.charge("skills", len(chosen))
        return list(chosen)

    # --- checks and staging ------------------------------------------------------------------------------------------

    def _check(self, chosen: list[Found]) -> None:
        """Hold each skill to the gate's findings and to its budget, before its files are delivered."""
        for item in chosen:
            item.findings += _prefixed([fault.diagnostic for fault in item.place.faults], item.held.prefix)
            item.findings += _prefixed(
                check_skill_budget(item.place.files, item.place.path, self.meters.skill, item.name), item.held.prefix
            )

    def _stage(self, chosen: list[Found], every: Sequence[Held]) -> None:
        """Deliver the files of the good skills, then let each container check what nobody wanted."""
        for held in every:
            if held.damage:
                continue
            wanted: list[Entry] = []
            for item in chosen:
                if item.held is not held or item.faulty:
                    continue
                for entry in item.place.files:
                    if entry is item.place.document:
                        # It is staged already; what is selected is charged all the same.
                        self.meters.bundle.charge("bytes", entry.size, held.prefix + entry.path.text)
                        continue
                    relative = entry.path.below(item.place.path)
                    if relative is not None:
                        self.staged.place(entry, item.folder, relative)
                        wanted.append(entry)
            self.progress.expect(0, sum(entry.size for entry in wanted))
            with self._damage(held):
                held.container.deliver(wanted, self.staged, self._charge_bytes(held.prefix))
                held.container.verify_rest(self._charge_nothing)

    @staticmethod
    @contextmanager
    def _damage(held: Held) -> Iterator[None]:
        """Let a nested archive that turns out to be damaged take its own skills with it, and not its neighbours'."""
        try:
            yield
        except Rejected as rejected:
            if not held.prefix:
                raise
            held.damage = tuple(_prefixed(rejected.diagnostics, held.prefix))

    def _say_damage(self, chosen: list[Found], every: Sequence[Held]) -> None:
        for held in every:
            wanted = any(item.held is held for item in chosen)
            self.diagnostics += held.damage if wanted else [as_warning(d) for d in held.damage]

    def _candidates(self, chosen: list[Found]) -> tuple[SkillCandidate, ...]:
        made: list[SkillCandidate] = []
        for item in chosen:
            head = self._head(item)
            self._review(item, head)
            own = () if item.reading is None else item.reading.diagnostics
            self.diagnostics += (*item.findings, *own)
            if item.faulty or item.reading is None:
                self.left_out.append(item.left_out("faulty"))
                continue
            records = self._modes(item)
            made.append(
                item.reading.candidate(
                    root=item.root,
                    files=records,
                    digest=tree_digest(records),
                    staged=item.folder,
                    text=self._text(item, head),
                )
            )
        settled = settle_names(made)
        self.diagnostics += settled.diagnostics
        self.left_out += settled.left_out
        return settled.kept

    def _modes(self, item: Found) -> tuple[FileRecord, ...]:
        """Return the records of a skill; in a folder, a script that is not executable may have lost its bit.

        A copy over a network share, a memory stick or an unpacker without modes leaves a folder like that. The bit is
        installed as it is found, and a difference in it alone is no conflict.
        """
        records = self.staged.records(item.folder)
        if item.held.container.kind != "directory":
            return records
        return tuple(r._replace(mode_known=False) if r.shebang and not r.executable else r for r in records)

    def _head(self, item: Found) -> bytes:
        """Return the start of SKILL.md, which is all of it nearly always; b"" where the skill has none that counts."""
        relative = item.document_path
        if item.faulty or item.reading is None or relative is None:
            return b""
        return self.staged.read(item.folder, relative, READ_BYTES)

    def _review(self, item: Found, head: bytes) -> None:
        """Look over what was staged, and say which files could not be had."""
        document = item.place.document
        if item.faulty or item.reading is None or document is None:
            return
        failures = _failures(item.held.container)
        item.findings += [failures[entry.path.text] for entry in item.place.files if entry.path.text in failures]
        item.findings += review_files(
            item.root,
            self.staged.records(item.folder),
            self.staged.inspections(item.folder),
            head,
            document.path.name,
        )
        item.findings += _prefixed(copied_links(item.place.files), item.held.prefix)

    def _text(self, item: Found, head: bytes) -> str | None:
        """Return SKILL.md as text while the preview's budget carries it; past it the skill stays importable."""
        document, relative = item.place.document, item.document_path
        if document is None or relative is None:
            return None
        try:
            self.meters.preview.charge("text_bytes", document.size, document.path.text)
        except BudgetExceeded as spent:
            self.diagnostics.append(
                info(
                    "preview-text-left-out",
                    f"the text of {shown(document.path.text)} is not in this preview: {spent.limit} allows "
                    f"{spent.max:,} bytes for all of them; the skill is importable all the same",
                    item.held.prefix + document.path.text,
                    profile=spent.profile,
                    limit=spent.limit,
                    used=spent.used,
                    max=spent.max,
                    unit=spent.unit,
                )
            )
            return None
        whole = head if len(head) == document.size else self.staged.read(item.folder, relative, document.size)
        return whole.decode("utf-8", "replace")

    # --- charges -----------------------------------------------------------------------------------------------------

    def _charge_entries(self, prefix: str) -> Callable[[int, str], None]:
        return lambda amount, path: self.meters.bundle.charge("entries", amount, _within(prefix, path))

    def _charge_bytes(self, prefix: str) -> Callable[[int, str], None]:
        def charge(amount: int, path: str) -> None:
            self.meters.bundle.charge("bytes", amount, _within(prefix, path))
            self.progress.advance(0, amount)

        return charge

    def _documents_charge(self) -> Callable[[int, str], None]:
        """Charge the documents of all skills to a meter of their own, with the same maximum."""
        spare = Meter(self.meters.bundle.profile)
        return lambda amount, path: spare.charge("bytes", amount, path)

    @staticmethod
    def _charge_nothing(_amount: int, _path: str) -> None:
        """What is only verified is charged to the stream that it was read from."""

    def _folder(self) -> str:
        self._folders += 1
        return f"s{self._folders}"


def _loose(faults: Sequence[Fault]) -> list[Diagnostic]:
    """Return what is wrong outside of every skill, each thing once; what was not even looked at is only a note."""
    each = {id(fault.diagnostic): as_warning(fault.diagnostic) for fault in faults}.values()
    return [replace(d, severity=Severity.INFO) if d.code == "github-link-unread" else d for d in each]


def _prefixed(found: Sequence[Diagnostic], prefix: str) -> list[Diagnostic]:
    """Return findings with their paths as seen from the outer container."""
    if not prefix:
        return list(found)
    return [replace(finding, path=_within(shown(prefix, 600), finding.path)) for finding in found]


def _within(prefix: str, path: str) -> str:
    """Return a path as seen from the outer container; what names the nested archive itself stays as it is."""
    archive = prefix.removesuffix("!/")
    return path if path == archive or path.startswith(prefix) else (prefix + path if path else archive)


def _folder_name(container: Container) -> str | None:
    """Return the name of the folder that a container is the content of, where its author gave it that name."""
    return getattr(container, "folder", None) or None


def _failures(container: Container) -> Mapping[str, Diagnostic]:
    """Return what a container could not deliver, by path: only a network has such."""
    failures: Mapping[str, Diagnostic] = getattr(container, "failures", {})
    return failures
