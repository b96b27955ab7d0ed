"""The known models: finds their files on this machine, and checks them before they are loaded.

Nothing here uses the network. Weights are pinned by SHA-256.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_ls.embedding.api import GUESSED_RELEVANT_COSINE, ModelCard
from rag_ls.errors import ModelDamaged, ModelMissing
from rag_ls.locations import user_data_folder
from rag_ls.util.installation import model_command
from rag_ls.util.records import dataclass, replace

TOKENIZER = "tokenizer.json"
PACKED_GRAPH = "model.onnx"
CALIBRATION = "calibration.npz"
# The value for models that were not measured.
_MAX_TOKENS = 256
# Digits of a checksum in a message.
_SHOWN_CHARACTERS = 12
PACKED_WEIGHTS = "weights.int8.safetensors"
UNPACKED_WEIGHTS = "model.safetensors"
ZERO_BYTE = 128
"""The byte of zero."""
SCALE = ".scale"
"""Added to a matrix's name, the name of its scales."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model by the checksums of its files: pinned here, or found in the folder of a model that nobody pinned."""

    name: str
    dimensions: int
    max_tokens: int
    sha256: str
    tokenizer_sha256: str = ""
    package_folder: str = ""
    """`module/folder` of an installed package that carries it."""
    weights: str = UNPACKED_WEIGHTS
    """The file of the weights in its folder."""
    onnx_package_file: str = ""
    """`module/file` of an int8 ONNX twin whose vectors agree with the model's own (cosine above 0.999)."""
    onnx_sha256: str = ""
    calibration_sha256: str = ""
    """Of the file by which what is multiplied is quantised, too, where that costs its rankings next to nothing
    (docs/performance.md); empty where there is none."""
    relevant_cosine: float = GUESSED_RELEVANT_COSINE
    """Measured on labelled questions (tests/benchmarks/recall)."""
    knows_european_scripts_alone: bool = False
    packages: tuple[str, ...] = ()
    """The packages on PyPI that `rag-ls doctor --get-model` fetches, and joins; none for the model that comes with rag-ls."""
    packages_sha256: tuple[str, ...] = ()
    """The checksums of their wheels, in the same order."""


def _read_known() -> tuple[KnownModel, ...]:
    """The models of `models.json`, in the order of `auto`; mpnet is last although it ranks better than MiniLM (docs/performance.md)."""
    rows = json.loads(Path(__file__).with_name("models.json").read_text("utf-8"))
    lists = ("packages", "packages_sha256")
    return tuple(KnownModel(**{**row, **{name: tuple(row.get(name, ())) for name in lists}}) for row in rows)


KNOWN_MODELS = OWN, MINILM, MPNET = _read_known()


@dataclass(frozen=True, slots=True)
class LocatedModel:
    """A model whose files are on this machine."""

    known: KnownModel
    """The facts that are known of it; of a model that nobody pinned, those that its files tell."""
    folder: Path
    onnx_file: Path | None = None

    @property
    def name(self) -> str:
        """Its name, or the folder of a model that nobody pinned."""
        return self.known.name

    @property
    def id(self) -> str:
        """Name and revision; vectors are stored under it."""
        return f"{self.name}@{self.known.sha256[:12]}"

    @property
    def is_packed(self) -> bool:
        """Whether its weights are those of its ONNX graph, too (`packed`)."""
        return self.known.weights == PACKED_WEIGHTS

    @property
    def weights_file(self) -> Path:
        """The file of the weights."""
        return self.folder / self.known.weights

    @property
    def tokenizer_file(self) -> Path:
        """The model's `tokenizer.json`."""
        return self.folder / TOKENIZER

    @property
    def calibration_file(self) -> Path:
        """The largest values that its matrices multiply (`int8`)."""
        return self.folder / CALIBRATION

    @staticmethod
    def of_fields(fields: dict[str, Any]) -> LocatedModel:
        """The model whose fields came as JSON, to a child process."""
        onnx_file = fields["onnx_file"] and Path(fields["onnx_file"])
        return LocatedModel(KnownModel(**fields["known"]), Path(fields["folder"]), onnx_file)


def card_of(located: LocatedModel) -> ModelCard:
    """The card of a model whose files are on this machine."""
    return replace(card_of_id(located.id), max_tokens=located.known.max_tokens)


def card_of_id(model_id: str) -> ModelCard:
    """The card of a model by the id that stored vectors name, whether or not its files are here."""
    name = model_id.rsplit("@", 1)[0]
    known = next((model for model in KNOWN_MODELS if model.name == name), None)
    if known is None:
        return ModelCard(model_id, name, 0, 0)
    return ModelCard(
        model_id, name, known.max_tokens, known.dimensions, known.relevant_cosine,
        knows_european_scripts_alone=known.knows_european_scripts_alone,
    )  # fmt: skip


def locate(name: str) -> LocatedModel:
    """The model that the setting `embedding.model` names; `auto` names the first one that is on this machine.

    Raises `ModelMissing`, which says how to get it, if it is not on this machine.
    """
    if name == "auto":
        if (here := next(filter(None, map(_find, KNOWN_MODELS)), None)) is not None:
            return here
        raise ModelMissing(f"no embedding model is on this machine; `{model_command()}` installs the default one")
    for known in KNOWN_MODELS:
        if name in (known.name, known.name.rsplit("/", 1)[-1]):
            if found := _find(known):
                return found
            command = f"rag-ls doctor --get-model {name}" if known.packages else model_command()
            raise ModelMissing(f"{known.name} is not on this machine; `{command}` installs it")
    if found := _in_folder(Path(os.path.expanduser(name))):
        return found
    known_names = ", ".join(known.name for known in KNOWN_MODELS)
    raise ModelMissing(
        f"embedding.model = {name!r} is no model: set it to auto, to one of {known_names}, "
        f"or to a folder with {UNPACKED_WEIGHTS} and {TOKENIZER}"
    )


def _in_folder(folder: Path) -> LocatedModel | None:
    """A model that nobody pinned, by its folder."""
    if not (folder / TOKENIZER).is_file():
        return None
    folder = folder.resolve()
    if (folder / UNPACKED_WEIGHTS).is_file():
        return LocatedModel(_describe_unpinned(folder, file_sha256(folder / UNPACKED_WEIGHTS)), folder)
    graph, weights = folder / PACKED_GRAPH, folder / PACKED_WEIGHTS
    if not (weights.is_file() and graph.is_file()):
        return None
    known = replace(
        _describe_unpinned(folder, file_sha256(weights)), weights=PACKED_WEIGHTS, onnx_sha256=file_sha256(graph)
    )
    return LocatedModel(known, folder, graph)


def _describe_unpinned(folder: Path, sha256: str) -> KnownModel:
    return KnownModel(str(folder), dimensions=0, max_tokens=_MAX_TOKENS, sha256=sha256)


def locate_id(model_id: str) -> LocatedModel:
    """The model that stored vectors name. Raises `ModelMissing` if that revision is not on this machine."""
    located = locate(model_id.rsplit("@", 1)[0])
    if located.id != model_id:
        raise ModelMissing(f"the index was made with {model_id}, this machine has {located.id}")
    return located


def models_folder() -> Path:
    """The folder of fetched models."""
    return user_data_folder() / "models"


def check_weights(model: LocatedModel) -> None:
    """Raises `ModelDamaged` when the weights are not the pinned ones; call it before they are loaded."""
    _check(model, model.weights_file, model.known.sha256)
    if model.known.tokenizer_sha256:
        _check(model, model.tokenizer_file, model.known.tokenizer_sha256)


def check_onnx(model: LocatedModel) -> None:
    """As `check_weights`, for the ONNX graph or twin."""
    if model.onnx_file is not None:
        _check(model, model.onnx_file, model.known.onnx_sha256)


def check_calibration(model: LocatedModel) -> None:
    """As `check_weights`, for the calibration."""
    _check(model, model.calibration_file, model.known.calibration_sha256)


def file_sha256(file: Path) -> str:
    """SHA-256 of a file, in hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check(model: LocatedModel, file: Path, expected: str) -> None:
    found = file_sha256(file) if file.is_file() else ""
    if found == expected:
        return
    checksums = f"sha256 {found[:_SHOWN_CHARACTERS]}..., expected {expected[:_SHOWN_CHARACTERS]}..."
    problem = f"is damaged or of another revision ({checksums}), and was not loaded" if found else "is missing"
    is_own = model.known.name == OWN.name
    remedy = f"`{model_command()}`" if is_own else f"install {' and '.join(model.known.packages) or 'it'} again"
    raise ModelDamaged(f"{file} {problem}: {remedy}")


def _find(known: KnownModel) -> LocatedModel | None:
    places = [_package_path(known.package_folder), models_folder() / known.name.rsplit("/", 1)[-1]]
    folder = next((place for place in places if place and (place / known.weights).is_file()), None)
    if folder is None:
        return None
    is_packed = known.weights == PACKED_WEIGHTS
    return LocatedModel(known, folder, folder / PACKED_GRAPH if is_packed else _package_path(known.onnx_package_file))


def _package_path(path: str) -> Path | None:
    """A file or folder inside an installed package, found without importing that package."""
    module, _, rest = path.partition("/")
    spec = importlib.util.find_spec(module) if module else None
    if spec is None or not spec.submodule_search_locations:
        return None
    found = Path(next(iter(spec.submodule_search_locations))) / rest
    return found if found.exists() else None


def unpack(tensors: Mapping[str, NDArray[np.generic]]) -> dict[str, NDArray[np.float32]]:
    """The weights of what `training/pack.py` stored, each within half a scale."""
    weights = {}
    for name, values in tensors.items():
        if name.endswith(SCALE) and name.removesuffix(SCALE) in tensors:
            continue
        if (scales := tensors.get(name + SCALE)) is None:
            weights[name] = values.astype(np.float32)
            continue
        blocks = values.astype(np.float32).reshape(*scales.shape, -1) - np.float32(ZERO_BYTE)
        weights[name] = (blocks * scales.astype(np.float32)[..., None]).reshape(values.shape)
    return weights


@contextmanager
def unpack_model(folder: Path) -> Iterator[Path]:
    """A folder as sentence-transformers reads it, for as long as it is read: that of a packed model, with its weights unpacked."""
    from safetensors.numpy import load_file, save_file

    with tempfile.TemporaryDirectory(prefix="rag-ls-", ignore_cleanup_errors=True) as temporary:
        copy = Path(temporary) / "model"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(PACKED_WEIGHTS, "*.onnx"))
        save_file(unpack(load_file(folder / PACKED_WEIGHTS)), copy / UNPACKED_WEIGHTS, {"format": "pt"})
        yield copy
