"""Rounds of ik_llama.cpp: reads one line for each, and prints its tokens per second as JSON. Arguments: the model, threads, decoded tokens, the prompt as JSON."""

import json
import os
import sys
import time

# The library prints to standard output too: that goes to standard error, so that the answers are alone.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

from ik_llama_cpp import IkLlama  # noqa: E402

path, threads, decoded, prompt = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
model = IkLlama(path, n_ctx=512, n_threads=threads, flash_attn=False, verbose=False, n_seq_max=1)
print(json.dumps({}), file=answers, flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    model.generate(prompt, max_tokens=0, temperature=0)
    first = time.perf_counter()
    tokens = model.generate(prompt, max_tokens=decoded, temperature=0)
    end = time.perf_counter()
    decode_seconds = (end - first) - (first - start)
    print(json.dumps({"prefill": len(prompt) / (first - start), "decode": len(tokens) / decode_seconds}), file=answers, flush=True)
