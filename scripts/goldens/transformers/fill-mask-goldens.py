"""What transformers' own fill-mask pipeline says, for src/tasks/fill-mask/fill-mask-goldens.jsonl.

    python3 -m venv /tmp/transformers && /tmp/transformers/bin/pip install transformers==4.57.1 numpy==2.4.6
    /tmp/transformers/bin/python scripts/goldens/transformers/fill-mask-goldens.py

Its `get_target_ids` and `postprocess` run without torch: the logits are no model's but made of token ids and places, which the test does too.
"""
import json
import pathlib
import types

import numpy as np
import transformers
import transformers.pipelines.fill_mask as fill_mask
from transformers import AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
OUT = ROOT / "src" / "tasks" / "fill-mask" / "fill-mask-goldens.jsonl"

MODELS = ["tiny-random-splade", "tiny-random-bart", "tiny-random-modernbert", "tiny-random-deberta-v3"]
TEXTS = ["Paris is the * of France.", "a * and a * , isn't it?", "*", "🍕 naïve ** — é!"]
TARGETS = [None, ["girl", "the", "France", " the", "time"]]
TOP_K = 4

Pipeline = fill_mask.FillMaskPipeline


class Tensor(np.ndarray):
    """As much of a torch tensor as the pipeline uses."""

    def squeeze(self, axis=None):
        return np.squeeze(np.asarray(self), axis=axis).view(Tensor)

    def softmax(self, dim):
        values = np.asarray(self, dtype=np.float64)
        powers = np.exp(values - values.max(dim, keepdims=True))
        return (powers / powers.sum(dim, keepdims=True)).view(Tensor)

    def topk(self, count):
        values = np.asarray(self)
        order = np.argsort(-values, axis=-1, kind="stable")[..., :count]
        return np.take_along_axis(values, order, -1).view(Tensor), order.view(Tensor)

    def numpy(self):
        return np.asarray(self)


fill_mask.torch = types.SimpleNamespace(nonzero=lambda found, as_tuple: np.argwhere(np.asarray(found)).view(Tensor))


def logit(place, token):
    """Of a place and a token of the vocabulary."""
    return (place * 2654435761 + token * 40503 * 65537) % 4294967296 / 2**28


def main():
    lines = [{"transformers": transformers.__version__, "texts": TEXTS, "targets": TARGETS, "topK": TOP_K}]
    for model in MODELS:
        tokenizer = AutoTokenizer.from_pretrained(SHARED / model)
        self = types.SimpleNamespace(tokenizer=tokenizer, framework="pt")
        for number, text in enumerate(TEXTS):
            ids = np.array([tokenizer(text.replace("*", tokenizer.mask_token))["input_ids"]]).view(Tensor)
            rows = [[logit(place, token) for token in range(len(tokenizer))] for place in range(ids.shape[1])]
            outputs = {"input_ids": ids, "logits": np.array([rows], dtype=np.float32).view(Tensor)}
            for place, targets in enumerate(TARGETS):
                target_ids = None if targets is None else np.array(sorted(Pipeline.get_target_ids(self, targets)))
                top_k = TOP_K if target_ids is None else min(TOP_K, len(target_ids))
                found = Pipeline.postprocess(self, outputs, top_k=top_k, target_ids=target_ids)
                masks = [found] if isinstance(found[0], dict) else found
                fills = [[[int(one["token"]), one["token_str"], one["sequence"], round(one["score"], 7)] for one in mask] for mask in masks]
                lines.append([model, len(tokenizer), number, place, fills])
    OUT.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines) - 1} answers of transformers {transformers.__version__} in {OUT}")


main()
