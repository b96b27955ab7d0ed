"""Blends a trained model with the one that it began as, weight by weight.

python -m training.blend MODEL --share S --out FOLDER [--base MODEL]

Wortsman et al., "Robust fine-tuning of zero-shot models" (2022): in between, what was learned is kept and less is forgotten.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from training.train import base_folder


def blend(base: Path, trained: Path, share: float, out: Path) -> None:
    """Write a model whose weights are `share` of the trained ones, and the base's for the rest."""
    from sentence_transformers import SentenceTransformer

    ours = SentenceTransformer(str(trained), device="cpu", local_files_only=True)
    theirs = SentenceTransformer(str(base), device="cpu", local_files_only=True).state_dict()
    mixed = {
        name: share * value + (1 - share) * theirs[name] if value.is_floating_point() else value
        for name, value in ours.state_dict().items()
    }
    ours.load_state_dict(mixed)
    ours.save(str(out), safe_serialization=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--base", default="all-MiniLM-L6-v2", help="the model that training began with")
    given = parser.parse_args()
    blend(base_folder(given.base), given.model, given.share, given.out)
    print(f"{given.out} is {given.share:g} of {given.model}")


if __name__ == "__main__":
    main()
