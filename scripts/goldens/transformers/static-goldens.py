"""What model2vec itself computes, for src/backends/native/static-goldens.json.

    python3 -m venv /tmp/model2vec && /tmp/model2vec/bin/pip install model2vec==0.10.0 scikit-learn==1.9.1
    /tmp/model2vec/bin/python scripts/goldens/transformers/static-goldens.py

Two kinds of models: the folders of shared/data/static-embeddings, named by path, and tiny ones made here, whose file is in the
JSON as base64. For every text: the token ids after model2vec's own rules (its cut by characters, its cut by tokens, unknown tokens
dropped), the mean of the rows, and the normalized mean.

model2vec returns float16 for a float16 model, rounded; its rows are widened to float32 first, so that the arithmetic, not the
rounding of the result, is compared.
"""
import base64
import json
import pathlib
import tempfile

import model2vec
import numpy as np
from model2vec import StaticModel
from model2vec.model import quantize_model
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data" / "static-embeddings"
OUT = ROOT / "src" / "backends" / "native" / "static-goldens.json"

TEXTS = [
    "",
    " ",
    "hello world",
    "The cat sits on the mat.",
    "Où est la bibliothèque ? L'été dernier, à Besançon.",
    "Die Straße ist groß",
    "我喜欢在周末去公园散步。",
    "I love pizza 🍕 and tacos 🌮!!",
    "🍕",
    "zzqx \u0378 ⿻",
    "[CLS] literal [UNK] [PAD] tokens",
    "hello " * 600,
    "internationalization " * 200,
]
TINY_TEXTS = ["", "unknown words only", "red", "red green blue red", "the red and the blue", "red " * 515 + "blue"]


def numbers(vector):
    return [float(f"{value:.9g}") for value in np.asarray(vector, np.float64)]


def describe(model, texts):
    if model.embedding.dtype == np.float16:
        model.embedding = model.embedding.astype(np.float32)
    limit = 512 * model.median_token_length
    cases = []
    for text in texts:
        ids = [int(i) for i in model.tokenize([text[:limit]])[0]]
        mean = model.encode([text], normalize=False)[0]
        cases.append({"text": text, "ids": ids, "mean": numbers(mean), "normalized": numbers(model.encode([text], normalize=True)[0])})
    return cases


def tiny_model():
    words = ["[UNK]", "the", "and", "red", "green", "blue", "yellow", "sky"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(7).normal(size=(len(words), 6)).astype(np.float32)
    return StaticModel(vectors, tokenizer, config={"model_type": "model2vec"}, normalize=True)


def saved(model):
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return base64.b64encode((pathlib.Path(folder) / "model.safetensors").read_bytes()).decode(), StaticModel.from_pretrained(folder)


def main():
    items = []
    for name in ("test-model-float32", "test-model-int8"):
        model = StaticModel.from_pretrained(SHARED / name)
        items.append({"name": name, "folder": name, "cases": describe(model, TEXTS)})
    for name, options in (
        ("tiny fp32", {}),
        ("tiny fp16", {"quantize_to": "float16"}),
        ("tiny fp64", {"quantize_to": "float64"}),
        ("tiny int8", {"quantize_to": "int8"}),
        ("tiny, 3 rows for 8 tokens", {"vocabulary_quantization": 3}),
        ("tiny, 3 rows in fp16", {"vocabulary_quantization": 3, "quantize_to": "float16"}),
        ("tiny, 3 rows in int8", {"vocabulary_quantization": 3, "quantize_to": "int8"}),
    ):
        file, model = saved(quantize_model(tiny_model(), **options))
        items.append({"name": name, "file": file, "cases": describe(model, TINY_TEXTS)})
    command = "python scripts/goldens/transformers/static-goldens.py"
    text = json.dumps({"made_by": f"{command}, model2vec {model2vec.__version__}", "models": items}, ensure_ascii=True)
    OUT.write_text(text.replace('{"text"', '\n{"text"').replace('{"name"', '\n{"name"') + "\n")


main()
