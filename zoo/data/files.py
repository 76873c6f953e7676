"""Files that users name: found from the launch folder, read in chunks, transcoded to UTF-8."""

import codecs
import errno
import glob
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hydra.utils import to_absolute_path

from zoo.data.document import PIECE, Document
from zoo.errors import UserError

MARKS = frozenset({"config.yaml", "record.json", "status.json", ".lock", "study.json", "multirun.yaml", "0.json"})
"""Files by which the folders of runs, studies and sweeps are known."""

FRESH = 2.0
"""Seconds for which the times of a file do not prove that it is unchanged: file systems round them."""


def resolve(path: str) -> Path:
    """The absolute path; a relative one starts from the launch folder, whatever the working folder is now."""
    return Path(os.path.abspath(to_absolute_path(os.path.expanduser(path))))


def from_launch(path: str) -> str:
    """The path as it is given, which reads best; absolute where the working folder is no more the launch folder."""
    resolved = str(resolve(path))
    return path if os.path.abspath(os.path.expanduser(path)) == resolved else resolved


@dataclass(frozen=True)
class Found:
    """The files of a path, sorted, and how many folders of runs below it were left out."""

    files: list[Path]
    run_folders: int = 0


def find(path: str, key: str) -> Found:
    """A file itself; the files anywhere in a folder, without hidden ones; or the matches of a glob. What runs, studies
    and sweeps wrote below the path is no text: else a run would change the corpus of the next. Raises UserError that
    names the config key when there is none."""
    root = resolve(path)
    if path and root.is_file():
        return Found([root])
    base = root
    if path and root.is_dir():
        found = [one for one in root.rglob("*") if not any(p.startswith(".") for p in one.relative_to(root).parts)]
        problem = f"the folder '{path}' has no files in it"
    else:
        found = [Path(one) for one in glob.glob(str(root), recursive=True)] if glob.has_magic(path) else []
        base = next((one for one in root.parents if not glob.has_magic(str(one))), root)
        problem = _unusable(path, root)
    files = sorted(one for one in found if one.is_file())
    kept, runs = _without_runs(files, base)
    if not kept:
        if runs:
            problem = f"'{path}' has no files but those of {runs} run folders, and run folders are left out"
        raise UserError(f"{key}: {problem} (looked at {root}); give a text file, a folder of them, or a glob")
    return Found(kept, runs)


def _unusable(path: str, root: Path) -> str:
    """Why a path is no file and no folder."""
    try:
        root.stat()
    except OSError as error:
        if path and error.errno not in (errno.ENOENT, errno.ENOTDIR):
            return f"'{path}' cannot be read: {error.strerror}"
        return f"there is no '{path}'"
    return f"'{path}' is no regular file" if path else "there is no ''"


def _without_runs(files: list[Path], base: Path) -> tuple[list[Path], int]:
    """The files that lie in no folder of a run below `base`, and the number of those folders."""
    known: dict[Path, Path | None] = {}

    def run_of(folder: Path) -> Path | None:
        """The outermost such folder that this one lies in."""
        if folder not in known:
            inside = folder != base and base in folder.parents
            known[folder] = (run_of(folder.parent) or (folder if _of_runs(folder) else None)) if inside else None
        return known[folder]

    runs = {file: run_of(file.parent) for file in files}
    return [file for file in files if runs[file] is None], len({one for one in runs.values() if one})


def _of_runs(folder: Path) -> bool:
    """Whether a run, or a study or sweep of them, wrote the folder."""
    has = {name for name in os.listdir(folder) if name in MARKS}
    run = bool(has & {"record.json", "status.json"}) and bool(has & {"config.yaml", ".lock"})
    several = bool(has & {"study.json", "multirun.yaml", "0.json"}) and folder.parent.name in ("studies", "sweeps")
    return run or several


def document(file: Path, encoding: str) -> Document:
    """The file as one document of UTF-8. Bytes of an `encoding` of utf-8 are handed on as they are."""
    check_encoding(encoding)
    return Document(str(file), lambda: _chunks(file, encoding))


def check_encoding(encoding: str) -> None:
    """Raises UserError unless Python knows the text encoding."""
    try:
        " ".encode(encoding)
    except (LookupError, ValueError):
        raise UserError(
            f"data.encoding: '{encoding}' is no text encoding; try utf-8, latin-1, cp1252 or utf-16"
        ) from None


def one(path: str, key: str) -> Path:
    """The one file of that path. Raises UserError that names the config key otherwise."""
    found = find(path, key).files
    if len(found) > 1:
        raise UserError(f"{key}: '{path}' is {len(found)} files; give one")
    return found[0]


def stamp(files: list[Path]) -> str | None:
    """A text that changes when a file does: path, size, and the times that an edit moves. None for a file changed in
    the last seconds: a second edit could leave the same times. Raises UserError for a file that is gone."""
    try:
        found = [(str(file), file.stat()) for file in files]
    except OSError as error:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from None
    if time.time() - max(max(now.st_mtime, now.st_ctime) for _, now in found) < FRESH:
        return None
    return repr([(name, now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino) for name, now in found])


def _chunks(file: Path, encoding: str) -> Iterator[bytes]:
    if codecs.lookup(encoding).name == "utf-8":
        yield from _raw(file)
        return
    advice = "set data.encoding to what it is"
    decoder = codecs.getincrementaldecoder(encoding)()
    done = said = 0
    for chunk in chain(_raw(file), [b""]):
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            place = done - pending + error.start
            raise UserError(f"{file} is not {encoding} at byte {place}; {advice}") from None
        except UnicodeError as error:  # of the encodings that do not say where
            raise UserError(f"{file} is not {encoding} ({error}); {advice}") from None
        try:
            yield text.encode("utf-8")
        except UnicodeEncodeError as error:
            place = said + error.start
            raise UserError(
                f"{file} is not {encoding} at its character {place}, which is half of a surrogate pair; {advice}"
            ) from None
        done, said = done + len(chunk), said + len(text)


def _raw(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as handle:
            while chunk := handle.read(PIECE):
                yield chunk
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
