"""What transformers' own question-answering pipeline says, for src/tasks/question-answering/answer-goldens.jsonl.

    python3 -m venv /tmp/transformers && /tmp/transformers/bin/pip install transformers==4.57.1 numpy==2.4.6
    /tmp/transformers/bin/python scripts/goldens/transformers/answer-goldens.py

Its `preprocess` lays the windows and its `postprocess` chooses the answers; torch is not needed, since the logits are no model's but made
of token ids and places, which the test does too. Two rules are ours and stated in docs/guide/answering.md: white space at the ends of an
answer is left out, and of several windows the surest counts (transformers adds scores up, over windows too).
"""
import json
import pathlib
import types

import numpy as np
import transformers
import transformers.pipelines.question_answering as question_answering
from transformers import AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
OUT = ROOT / "src" / "tasks" / "question-answering" / "answer-goldens.jsonl"

MODELS = ["all-MiniLM-L6-v2", "tiny-random-bart", "tiny-random-modernbert", "tiny-random-deberta-v3"]
QUESTIONS = ["Where does she live?", "what?", "How tall is it, and who says so?"]
CONTEXTS = [
    "She lives in Madrid now, and has lived there since the unaffable spring of 1999.",
    "東京タワーは東京都港区にある。 It is 333 metres tall.",
    "🍕 pizza, 👩‍👩‍👧 family; naïve café — “quoted” text… (and more)",
    "a",
    "the the the the the the",
    "The quick brown fox jumps over the lazy dog. " * 9,
    "Once upon a time there was a little girl who lived in a small house near the capital of France. " * 4,
]
# topK, noAnswer, alignToWords, maxAnswerTokens
OPTIONS = [(1, False, True, 15), (4, True, True, 15), (3, False, False, 4)]
LIMITS = {"max_seq_len": 64, "doc_stride": 10}

Pipeline = question_answering.QuestionAnsweringPipeline


class Tensor(np.ndarray):
    """As much of a torch tensor as the pipeline uses."""

    def unsqueeze(self, axis):
        return np.expand_dims(self, axis).view(Tensor)

    def numpy(self):
        return np.asarray(self)


question_answering.torch = types.SimpleNamespace(
    bfloat16="bfloat16", int32="int32", float32="float32", tensor=lambda values: np.asarray(values).view(Tensor)
)


def logits(ids, salt):
    """Of a token's id and place."""
    rows = [
        [((int(id) * 2654435761 + salt) % 4294967296 >> 20) / 400 - 5 + place * place / 5000 for place, id in enumerate(row)]
        for row in ids
    ]
    return np.array(rows, dtype=np.float32).view(Tensor)


def answers(tokenizer, question, context, salts, top_k, no_answer, align_to_words, max_answer_len):
    self = types.SimpleNamespace(tokenizer=tokenizer, framework="pt")

    def indices(*arguments):
        start, end = Pipeline.get_indices(self, *arguments)
        text = context[start:end]
        start += len(text) - len(text.lstrip())
        return start, max(start, end - (len(text) - len(text.rstrip())))

    self.get_indices = indices
    self.get_answer = lambda *arguments: Pipeline.get_answer(self, *arguments)
    windows = []
    for feature in Pipeline.preprocess(self, {"question": question, "context": context}, **LIMITS):
        ids = np.asarray(feature["input_ids"])
        windows.append({**feature, "start": logits(ids, salts[0]), "end": logits(ids, salts[1])})

    def said(some, count, impossible):
        options = {"align_to_words": align_to_words, "max_answer_len": max_answer_len, "handle_impossible_answer": impossible}
        found = Pipeline.postprocess(self, some, top_k=count, **options)
        return found if isinstance(found, list) else [found]

    best = {}
    for window in windows:
        for one in said([window], top_k, False):
            words = one["answer"].lower()
            # Spans of no probability, among them some that end before they start, fill its list where there are too few.
            if one["score"] > 0 and one["start"] < one["end"] and one["score"] > best.get(words, one | {"score": 0})["score"]:
                best[words] = one
    none = [one for one in said(windows, 10**6, True) if one["answer"] == "" and one["end"] == 0][:1] if no_answer else []
    return sorted([*best.values(), *none], key=lambda one: -one["score"])[:top_k], len(windows)


def main():
    head = {
        "transformers": transformers.__version__,
        "questions": QUESTIONS,
        "contexts": CONTEXTS,
        "maxTokens": LIMITS["max_seq_len"],
        "stride": LIMITS["doc_stride"],
    }
    lines = [head]
    for model in MODELS:
        tokenizer = AutoTokenizer.from_pretrained(SHARED / model)
        for place, context in enumerate(CONTEXTS):
            for number, question in enumerate(QUESTIONS):
                for options in OPTIONS:
                    salts = [place * 7919 + 17, number * 104729 + 90001]
                    found, windows = answers(tokenizer, question, context, salts, *options)
                    rows = [[one["answer"], int(one["start"]), int(one["end"]), round(float(one["score"]), 7)] for one in found]
                    lines.append([model, number, place, salts, options, windows, rows])
    OUT.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines) - 1} answers of transformers {transformers.__version__} in {OUT}")


main()
