"""Builds the node agent's artifact: one zip, the same bytes from the same sources on any machine.

It holds this package, what of nightshift a node needs, and the libraries it needs from the installed wheels.
Files are stored, not deflated: compressors differ between machines, and the models are packed already.
Runs where the program runs, and imports neither Pulumi nor boto3.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

OWN = ("bootstrap", "nightshift/catalog", "nightshift/plan", "nightshift/records")
OWN_FILES = ("nightshift/__init__.py",)
JOB = "job"
"""A folder apart: what the job's own Python gets to import, and nothing of the agent's beside it."""
JOB_FOLDER = "nightshift/training"
LIBRARIES = ("boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six", "tzdata", "urllib3")
SERVICES = {
    "autoscaling": "2011-01-01",
    "cloudwatch": "2010-08-01",
    "ec2": "2016-11-15",
    "logs": "2014-03-28",
    "s3": "2006-03-01",
    "secretsmanager": "2017-10-17",
    "sts": "2011-06-15",
}
"""The services that a node calls, and the version of each; botocore's other 400 models stay out."""
SHARED_MODELS = ("_retry.json", "endpoints.json", "partitions.json", "sdk-default-configuration.json")
SKIPPED_SUFFIXES = (".pyc", ".pyi", ".typed", ".so")
SKIPPED_NAMES = ("examples-1.json", "examples-1.json.gz")
SKIPPED_FOLDERS = ("__pycache__", "examples")
KEPT = 8
"""Built files that stay in the cache folder, 6.5 MB each."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold; any fixed one gives the same bytes."""


@dataclass(frozen=True)
class Artifact:
    """The built file; `key` is where it lies in the artifacts bucket."""

    path: Path
    sha256: str
    size: int

    @property
    def key(self) -> str:
        """Named by content: an older launch template still finds what it was made with."""
        return f"bootstrap/{self.sha256}.zip"


class MissingPart(Exception):
    """Something that belongs in the artifact isn't installed; the message says what to do."""


def build(root: Path | None = None, cache: Path | None = None) -> Artifact:
    """Build the artifact from the checkout at `root`, into `cache` (default: the user's cache folder).

    Raises MissingPart. A file of the same content that's there already is used again.
    """
    data = _bundle(dict(_entries(root or Path(__file__).resolve().parents[1])))
    sha256 = hashlib.sha256(data).hexdigest()
    folder = cache or _cache_folder()
    path = folder / f"{sha256}.zip"
    if not path.is_file() or path.read_bytes() != data:
        folder.mkdir(parents=True, exist_ok=True)
        _write(path, data)
        _prune(folder)
    return Artifact(path, sha256, len(data))


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "nightshift" / "artifacts"


def _bundle(sources: dict[str, Path]) -> bytes:
    """The zip: names sorted, one fixed time and mode, nothing compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as bundle:
        for name in sorted(sources):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            bundle.writestr(entry, sources[name].read_bytes())
    return buffer.getvalue()


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all: another run may build at the same time."""
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_bytes(data)
    partial.replace(path)


def _prune(folder: Path) -> None:
    """Only the newest stay. They're copies: what nodes fetch lies in the bucket."""
    built = sorted(folder.glob("*.zip"), key=lambda path: path.stat().st_mtime_ns)
    for path in built[:-KEPT]:
        path.unlink(missing_ok=True)


def _entries(root: Path) -> Iterator[tuple[str, Path]]:
    """(name in the zip, file on disk) of everything that goes in."""
    for name in OWN_FILES:
        yield name, root / name
        yield f"{JOB}/{name}", root / name
    for folder in OWN:
        yield from _tree(root / folder, folder)
    yield from _tree(root / JOB_FOLDER, f"{JOB}/{JOB_FOLDER}")
    for library in LIBRARIES:
        yield from _library(library)


def _library(name: str) -> Iterator[tuple[str, Path]]:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise MissingPart(f"the node's artifact needs {name}, which isn't installed: run `make setup`")
    origin = Path(spec.origin)
    if not spec.submodule_search_locations:
        yield origin.name, origin
        return
    yield from ((entry, path) for entry, path in _tree(origin.parent, name) if _wanted(entry))


def _tree(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    for path in _files(folder):
        yield f"{prefix}/{path.relative_to(folder).as_posix()}", path


def _files(folder: Path) -> Iterable[Path]:
    for base, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if each not in SKIPPED_FOLDERS]
        here = Path(base)
        yield from (here / each for each in files if not _skipped(each))


def _skipped(name: str) -> bool:
    return name.endswith(SKIPPED_SUFFIXES) or name in SKIPPED_NAMES


def _wanted(entry: str) -> bool:
    """Of botocore's and boto3's data only what the node's services need."""
    parts = entry.split("/")
    if parts[0] == "boto3" and parts[1] == "data":
        return False
    if parts[:2] != ["botocore", "data"]:
        return True
    if len(parts) == 3:
        return parts[2] in SHARED_MODELS
    return SERVICES.get(parts[2]) == parts[3]
