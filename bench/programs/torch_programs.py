"""Times of Mirage's programs on torch's CPU, eager and compiled, as JSON. Called by run.mjs: torch_programs.py RUNS [PROGRAM]"""
import json
import statistics
import sys
import time
import torch

runs = int(sys.argv[1])
only = sys.argv[2] if len(sys.argv) > 2 else None
torch.set_grad_enabled(False)


def norm(x, axis):
    return x / torch.sqrt((x * x).mean(dim=axis, keepdim=True) + 1e-5)


def random(*shape):
    return torch.rand(shape) - 0.5


def attention(normalized):
    def compute(q, k, v):
        if normalized:
            q, k = norm(q, -1), norm(k, 1)
        return torch.softmax(q @ k, dim=-1) @ v
    return compute


programs = {
    "gatedMlp, batch 1": (lambda x, gate, up: torch.nn.functional.silu(x @ gate) * (x @ up), [(8, 4096), (4096, 4096), (4096, 4096)]),
    "lora, batch 1": (lambda x, w, a, b: x @ w + x @ a @ b, [(16, 256), (256, 4096), (256, 16), (16, 4096)]),
    "mixtureOfExperts, batch 1": (lambda x, a, b: torch.nn.functional.silu(x @ a) * (x @ b), [(8, 8, 4096), (8, 4096, 4096), (8, 4096, 4096)]),
}
for batch in (1, 8):
    heads = [(2 * batch, 256, 64), (2 * batch, 64, 4096), (2 * batch, 4096, 64)]
    programs |= {
        f"rmsNormLinear, batch {batch}": (lambda x, w: norm(x, -1) @ w, [(2 * batch, 4096), (4096, 4096)]),
        f"groupedQueryAttention, batch {batch}": (attention(False), heads),
        f"normalizedAttention, batch {batch}": (attention(True), heads),
        f"nGptUpdate, batch {batch}": (lambda x, h, alpha: norm(x + alpha * (norm(h, -1) - x), -1), [(8 * batch, 4096), (8 * batch, 4096), (4096,)]),
    }


def median(function, tensors):
    times = []
    for run in range(runs + 2):
        start = time.perf_counter()
        function(*tensors)
        if run >= 2:
            times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


times = {}
for name, (function, shapes) in programs.items():
    if only is not None and not name.startswith(only + ","):
        continue
    tensors = [random(*shape) for shape in shapes]
    times[name] = {"eager": median(function, tensors)}
    try:
        times[name]["compiled"] = median(torch.compile(function), tensors)
    except Exception:
        times[name]["compiled"] = None  # torch.compile needs a C++ compiler
print(json.dumps({"version": torch.__version__, "threads": torch.get_num_threads(), "times": times}))
