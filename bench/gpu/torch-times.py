"""Times of PyTorch for the shapes that check.mjs measures: `python3 torch-times.py MODEL BATCHxTOKENS...` prints JSON, milliseconds by shape."""

import json
import statistics
import sys
import time

import torch
from transformers import AutoModel

folder, *shapes = sys.argv[1:]
torch.backends.cuda.matmul.allow_tf32 = False
model = AutoModel.from_pretrained(folder, dtype=torch.float32).to("cuda").eval()
times = {}
with torch.inference_mode():
    for shape in shapes:
        batch, tokens = (int(part) for part in shape.split("x"))
        ids = torch.arange(batch * tokens).reshape(batch, tokens) % 1000 + 1000
        mask = torch.ones_like(ids)
        measured = []
        for index in range(60):
            start = time.perf_counter()
            states = model(input_ids=ids.to("cuda"), attention_mask=mask.to("cuda")).last_hidden_state.cpu()
            if index >= 10:
                measured.append((time.perf_counter() - start) * 1000)
        times[shape] = statistics.median(measured)
print(json.dumps(times))
