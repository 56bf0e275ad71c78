"""Tokenizes texts with AutoTokenizer: answers.py FOLDER OUT, with FOLDER/texts.json ({ name: [texts] }) and a model's folder of each name.

Run by main.ts with the Python of a virtual environment that has transformers 5.24.0, sentencepiece and protobuf.
"""
import json
import os
import sys

from transformers import AutoTokenizer

root, out = sys.argv[1:]
answers = {}
for name, texts in json.load(open(os.path.join(root, "texts.json"), encoding="utf-8")).items():
    try:
        tokenizer = AutoTokenizer.from_pretrained(os.path.join(root, name))
    except Exception as error:
        print(f"{name}: transformers refuses it: {error!r}"[:300], flush=True)
        continue
    rows = []
    for index, text in enumerate(texts):
        pair = (texts[index - 1] or None) if index % 10 == 9 else None
        encoded = tokenizer(text, pair, return_offsets_mapping=tokenizer.is_fast)
        rows.append([encoded["input_ids"], [each for pair in encoded.get("offset_mapping", []) for each in pair]])
    answers[name] = rows
json.dump(answers, open(out, "w", encoding="utf-8"))
