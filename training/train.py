"""Trains an embedding model on pairs, and goes on where it was interrupted.

python -m training.train FOLDER [--base MODEL] [--steps N] [--batch N] [--answer-tokens N] [--cached N] [--negatives N]

FOLDER holds pairs.jsonl (`training.collect`); the model, the state and log.jsonl go there too. Two cores learn eight pairs a second,
or twenty with --answer-tokens 96; on a GPU, --cached 64 --batch 1024 lets large batches fit in its memory.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag_ls.embedding import locate
from training import pairs as stored_pairs
from training.batches import batches
from training.pairs import Pair

_LOGGED_EVERY, _KEPT_EVERY = 10, 100
_WARM_UP, _CLIPPED_AT = 0.06, 1.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the outcome of a training run."""

    steps: int
    batch: int = 128
    """Pairs a step; each pair's answer is a wrong one for all others."""
    groups: int = 4
    """Repositories that a batch's pairs are of."""
    rate: float = 5e-5
    """The highest learning rate; it rises over the first steps and falls to nothing as a cosine."""
    scale: float = 20.0
    """What cosines are multiplied by before the softmax."""
    dimensions: tuple[int, ...] = (384, 192, 96)
    """Vectors cut to each of these are trained alike: Kusupati et al., "Matryoshka Representation Learning" (2022)."""
    question_tokens: int = 48
    answer_tokens: int = 160
    cached: int = 0
    """Texts whose gradients are in memory at once, where a batch is too large for it: Gao et al., "Scaling Deep
    Contrastive Learning Batch Size under Memory Limited Setup" (2021). 0: the whole batch."""
    negatives: int = 0
    """Hard negatives of each pair that are read with it (`training.negatives`)."""
    seed: int = 7


class Diverged(RuntimeError):
    """The loss is no number any more."""


class Training:
    """One run: a model with its optimiser, at some step of a recipe."""

    def __init__(self, base: Path, folder: Path, recipe: Recipe) -> None:
        """`base` is the folder of the model to begin with; `folder` holds the state of this run, if it was begun."""
        import torch
        from sentence_transformers import SentenceTransformer

        self._torch = torch
        self._folder = folder
        self._recipe = recipe
        torch.manual_seed(recipe.seed)
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = SentenceTransformer(str(base), device=self._device, local_files_only=True)
        self._most_tokens = self._model.max_seq_length
        self._loss = self._losses()
        self._optimiser = torch.optim.AdamW(self._parameters(), lr=recipe.rate)
        self.step = 0
        """The number of steps that were made."""
        self._resume()

    def run(self, pairs: list[Pair], *, until: int | None = None) -> None:
        """Make the steps that are left, or those until `until`. Raises `Diverged`; then the last state that was kept stays."""
        recipe = self._recipe
        end = min(recipe.steps, until if until is not None else recipe.steps)
        every = self._every_batch(pairs)
        self._model.train()
        began, learned = time.perf_counter(), 0
        losses: list[float] = []
        while self.step < end:
            batch = every[self.step]
            losses.append(self._learn(batch))
            learned += len(batch)
            self.step += 1
            if self.step % _LOGGED_EVERY == 0 or self.step == end:
                self._log(sum(losses) / len(losses), learned / (time.perf_counter() - began))
                losses = []
            if self.step % _KEPT_EVERY == 0 or self.step == end:
                self.keep()
        self._model.eval()

    def save(self, folder: Path) -> None:
        """Write the model, to be used with texts as long as before."""
        self._model.max_seq_length = self._most_tokens
        self._model.save(str(folder), safe_serialization=True)

    def weights(self) -> dict[str, Any]:
        """The weights by name."""
        return {name: value.detach().float().cpu().numpy().copy() for name, value in self._model.named_parameters()}

    def without_chance(self) -> None:
        """Leave no weights out by chance, so that two runs can be compared."""
        for module in self._model.modules():
            if isinstance(module, self._torch.nn.Dropout):
                module.p = 0.0

    def keep(self) -> None:
        """Write the state, so that an interrupted run goes on from here."""
        state = {
            "recipe": asdict(self._recipe), "step": self.step, "model": self._model.state_dict(),
            "optimiser": self._optimiser.state_dict(), "chance": self._torch.get_rng_state(),
        }  # fmt: skip
        part = self._state.with_suffix(".part")
        self._torch.save(state, part)
        part.replace(self._state)

    @property
    def _state(self) -> Path:
        return self._folder / "state.pt"

    def _resume(self) -> None:
        if not self._state.exists():
            return
        state = self._torch.load(self._state, map_location=self._device, weights_only=True)
        if state["recipe"] != asdict(self._recipe):
            raise SystemExit(f"{self._state} is of another recipe: remove it, or give the same arguments as before")
        self._model.load_state_dict(state["model"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._torch.set_rng_state(state["chance"].cpu())
        self.step = int(state["step"])

    def _every_batch(self, pairs: list[Pair]) -> list[list[Pair]]:
        """The batches of as many rounds over the pairs as the steps need: the same ones whenever the run is resumed."""
        recipe, found = self._recipe, list[list[Pair]]()
        pairs = [pair for pair in pairs if len(pair.negatives) >= recipe.negatives]
        for number in range(recipe.steps):
            if len(found) >= recipe.steps:
                break
            of_round = batches(pairs, recipe.batch, recipe.groups, recipe.seed + number)
            if not of_round:
                raise SystemExit(
                    f"{len(pairs):,} pairs fill no batch of {recipe.batch} from {recipe.groups} repositories"
                )
            found += of_round
        return found

    def _learn(self, batch: list[Pair]) -> float:
        torch, recipe = self._torch, self._recipe
        for group in self._optimiser.param_groups:
            group["lr"] = recipe.rate * _share_of_rate(self.step, recipe.steps)
        columns = [[pair.question for pair in batch], [pair.answer for pair in batch]]
        for at in range(recipe.negatives):
            columns.append([pair.negatives[at] for pair in batch])
        features = [self._tokens(texts, is_question=at == 0) for at, texts in enumerate(columns)]
        # On processors and GPUs that know it, bfloat16 is about twice as fast; the weights stay float32.
        with torch.autocast(self._device, dtype=torch.bfloat16):
            loss = self._loss(features, None)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise Diverged(f"the loss of step {self.step + 1} is {value}: a lower --rate keeps it finite")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parameters(), _CLIPPED_AT)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return value

    def _tokens(self, texts: list[str], *, is_question: bool) -> dict[str, Any]:
        self._model.max_seq_length = self._recipe.question_tokens if is_question else self._recipe.answer_tokens
        found = self._model.preprocess(texts)
        return {name: value.to(self._device) if hasattr(value, "to") else value for name, value in found.items()}

    def _losses(self) -> Any:
        from sentence_transformers.sentence_transformer import losses

        recipe = self._recipe
        if recipe.cached:
            inner = losses.CachedMultipleNegativesRankingLoss(
                self._model, scale=recipe.scale, mini_batch_size=recipe.cached
            )
        else:
            inner = losses.MultipleNegativesRankingLoss(self._model, scale=recipe.scale)
        return losses.MatryoshkaLoss(self._model, inner, matryoshka_dims=list(recipe.dimensions))

    def _parameters(self) -> list[Any]:
        return [each for each in self._model.parameters() if each.requires_grad]

    def _log(self, loss: float, pairs_a_second: float) -> None:
        line = {"step": self.step, "loss": round(loss, 4), "pairs_a_second": round(pairs_a_second, 1)}
        with (self._folder / "log.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


def _share_of_rate(step: int, steps: int) -> float:
    warm_up = max(1, round(_WARM_UP * steps))
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))


def base_folder(name: str) -> Path:
    """The folder of a model to begin with. Ends the program if its weights are in eight bits."""
    located = locate(name)
    if located.is_packed:
        raise SystemExit(f"{name} is packed in eight bits, to be used: begin with the model that it was packed from")
    return located.folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--base", default="all-MiniLM-L6-v2", help="a known model, or the folder of one")
    usual = Recipe(steps=1000)
    parser.add_argument("--steps", type=int, default=usual.steps)
    parser.add_argument("--batch", type=int, default=usual.batch)
    parser.add_argument("--groups", type=int, default=usual.groups)
    parser.add_argument("--cached", type=int, default=usual.cached)
    parser.add_argument("--rate", type=float, default=usual.rate)
    parser.add_argument("--answer-tokens", type=int, default=usual.answer_tokens)
    parser.add_argument("--negatives", type=int, default=usual.negatives)
    given = parser.parse_args()
    recipe = Recipe(
        given.steps,
        given.batch,
        given.groups,
        given.rate,
        answer_tokens=given.answer_tokens,
        cached=given.cached,
        negatives=given.negatives,
    )
    training = Training(base_folder(given.base), given.folder, recipe)
    training.run(list(stored_pairs.read(given.folder / "pairs.jsonl")))
    training.save(given.folder / "model")
    print(f"{given.folder / 'model'} is the model after {training.step:,} steps")


if __name__ == "__main__":
    main()
