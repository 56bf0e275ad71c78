"""Writes the values of Mirage's programs at small sizes, computed by NumPy in float64 from float32 inputs.

    python3 bench/programs/goldens.py > test/programs/fixtures/mirage-goldens.json
"""
import json
import numpy as np

EPSILON = 1e-5


def tensor(shape, seed):
    length = int(np.prod(shape))
    index = np.arange(length, dtype=np.int64)
    values = ((index * 7919 + seed * 104729) % 1009) / 1009 - 0.5
    return values.astype(np.float32).astype(np.float64).reshape(shape)


def silu(x):
    return x / (1 + np.exp(-x))


def norm(x, axis):
    return x / np.sqrt(np.mean(x * x, axis=axis, keepdims=True) + EPSILON)


def softmax(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def gated_mlp(rows, width):
    x, gate, up = tensor((rows, width), 1), tensor((width, width), 11), tensor((width, width), 12)
    return silu(x @ gate) * (x @ up)


def rms_norm_linear(rows, width):
    return norm(tensor((rows, width), 1), -1) @ tensor((width, width), 11)


def lora(rows, inputs, outputs, rank):
    x = tensor((rows, inputs), 1)
    a, b, w = tensor((inputs, rank), 11), tensor((rank, outputs), 12), tensor((inputs, outputs), 13)
    return x @ w + x @ a @ b


def attention(groups, queries, width, keys, normalized):
    q, k, v = tensor((groups, queries, width), 1), tensor((groups, width, keys), 2), tensor((groups, keys, width), 3)
    if normalized:
        q, k = norm(q, -1), norm(k, 1)
    return softmax(q @ k) @ v


def ngpt_update(rows, width):
    x, h, alpha = tensor((rows, width), 1), tensor((rows, width), 2), tensor((width,), 11)
    return norm(x + alpha * (norm(h, -1) - x), -1)


def mixture_of_experts(experts, rows, width):
    x = tensor((experts, rows, width), 1)
    a, b = tensor((experts, width, width), 11), tensor((experts, width, width), 12)
    return silu(x @ a) * (x @ b)


attention_sizes = {"groups": 2, "queries": 5, "width": 9, "keys": 17}
cases = {
    "gatedMlp": ({"rows": 3, "width": 33}, gated_mlp),
    "rmsNormLinear": ({"rows": 2, "width": 35}, rms_norm_linear),
    "lora": ({"rows": 3, "inputs": 18, "outputs": 31, "rank": 4}, lora),
    "groupedQueryAttention": (attention_sizes, lambda **sizes: attention(**sizes, normalized=False)),
    "normalizedAttention": (attention_sizes, lambda **sizes: attention(**sizes, normalized=True)),
    "nGptUpdate": ({"rows": 3, "width": 37}, ngpt_update),
    "mixtureOfExperts": ({"experts": 2, "rows": 3, "width": 21}, mixture_of_experts),
}
print(json.dumps({
    name: {"sizes": sizes, "values": [float(f"{value:.9g}") for value in compute(**sizes).ravel()]}
    for name, (sizes, compute) in cases.items()
}))
