"""What transformers computes, for test/gguf/fixtures/gguf-goldens.json.

    python3 -m venv /tmp/gguf && /tmp/gguf/bin/pip install torch transformers gguf
    /tmp/gguf/bin/python scripts/goldens/transformers/gguf-goldens.py

Tiny models of architectures of llama.cpp whose weights follow from a formula, so that the test writes the same ones into a GGUF file: tensors in the order of
their names in the file, elements in row-major order, each from the next state of a Lehmer generator (state * 16807 modulo 2^31 - 1, from 1 on):
((state % 129) - 64) / 128, and for a ternary matrix ((state % 3) - 1) / 8. The names in the file are those of gguf-py, and for the norms of BitNet those of
https://github.com/microsoft/BitNet. Outputs: hidden states or logits of all tokens; with `pooling` the vector of the text too, of unit length.
"""
import json
import pathlib

import gguf
import torch
import transformers

OUT = pathlib.Path(__file__).resolve().parent.parent / "test" / "fixtures" / "gguf-goldens.json"
ARCH = {name: key for key, name in gguf.MODEL_ARCH_NAMES.items()}
BITNET_NORMS = {
    "self_attn.attn_sub_norm": "attn_sub_norm",
    "mlp.ffn_sub_norm": "ffn_sub_norm",
    "self_attn.q_proj.norm": "attn_q_norm_in",
    "self_attn.k_proj.norm": "attn_k_norm_in",
    "self_attn.v_proj.norm": "attn_v_norm_in",
    "self_attn.o_proj.norm": "attn_output_norm_in",
    "mlp.gate_proj.norm": "ffn_gate_norm_in",
    "mlp.up_proj.norm": "ffn_up_norm_in",
    "mlp.down_proj.norm": "ffn_down_norm_in",
}
NOMIC = {
    "embeddings.LayerNorm": "emb_ln",
    "self_attn.qkv_proj": "attn.Wqkv",
    "self_attn.o_proj": "attn.out_proj",
    "mlp.up_proj": "mlp.fc11",
    "mlp.gate_proj": "mlp.fc12",
    "mlp.down_proj": "mlp.fc2",
    "post_attention_layernorm": "norm1",
    "post_mlp_layernorm": "norm2",
}


class NormedLinear(torch.nn.Module):
    """BitLinear of BitNet's embedding models without the rounding of activations: an RMSNorm and a linear layer."""

    def __init__(self, linear, epsilon):
        super().__init__()
        self.weight, self.epsilon = linear.weight, epsilon
        self.norm = torch.nn.Module()
        self.norm.weight = torch.nn.Parameter(torch.ones(linear.in_features))

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.norm.weight
        return torch.nn.functional.linear(rounded(x), self.weight)


class RoundedLinear(torch.nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.weight = linear.weight

    def forward(self, x):
        return torch.nn.functional.linear(rounded(x), self.weight)


ROUNDS = False


def rounded(x):
    """W1.58A8: int8 with the largest magnitude of each row as its scale."""
    if not ROUNDS:
        return x
    scale = 127 / x.abs().max(-1, keepdim=True).values.clamp(min=1e-5)
    return (x * scale).round().clamp(-128, 127) / scale


def replace_linears(model, make):
    for layer in model.layers:
        for parent, names in ((layer.self_attn, "qkvo"), (layer.mlp, ("gate", "up", "down"))):
            for name in names:
                setattr(parent, f"{name}_proj", make(getattr(parent, f"{name}_proj")))


def gguf_name(name, arch, mapping):
    """The name in the file of a tensor of transformers."""
    stem, _, suffix = name.rpartition(".")
    stem = stem.removeprefix("model.")
    if arch == "nomic-bert":
        for ours, theirs in NOMIC.items():
            stem = stem.replace(ours, theirs)
        stem = stem.replace("layers.", "encoder.layers.")
        return f"{mapping.get_name(stem)}.{suffix}"
    parts = stem.split(".")
    if parts[0] == "layers" and ".".join(parts[2:]) in BITNET_NORMS:
        return f"blk.{parts[1]}.{BITNET_NORMS['.'.join(parts[2:])]}.{suffix}"
    found = mapping.get_name("model." + stem) or mapping.get_name(stem)
    assert found, name
    return f"{found}.{suffix}"


def fused(tensors):
    """NomicBERT of transformers with queries, keys and values in one matrix, as files have them."""
    result = {name: [tensor] for name, tensor in tensors.items() if not any(f".{part}_proj" in name for part in "qkv")}
    for name in tensors:
        if ".q_proj" in name:
            result[name.replace("q_proj", "qkv_proj")] = [tensors[name.replace("q_proj", f"{part}_proj")] for part in "qkv"]
    return result


def fill(model, extra, arch, is_ternary):
    """Sets all weights. Returns shapes and kinds by the names in the file."""
    mapping = gguf.get_tensor_name_map(ARCH.get(arch, gguf.MODEL_ARCH.LLAMA), 16)
    tensors = {name: tensor for name, tensor in model.state_dict().items() if name != "lm_head.weight"}
    parts = fused(tensors) if arch == "nomic-bert" else {name: [tensor] for name, tensor in tensors.items()}
    named = {gguf_name(name, arch, mapping): each for name, each in parts.items()} | {name: [each] for name, each in extra.items()}
    state, shapes = 1, {}
    for name in sorted(named):
        group = named[name]
        shape = [sum(len(each) for each in group), *group[0].shape[1:]]
        ternary = is_ternary and len(shape) == 2 and name.startswith("blk.")
        values = []
        for _ in range(sum(each.numel() for each in group)):
            state = state * 16807 % 2147483647
            values.append(((state % 3) - 1) / 8 if ternary else (state % 129 - 64) / 128)
        # Gemma's files have 1 added to the weights of its own norms.
        offset = 1 if arch.startswith("gemma") and name.endswith("norm.weight") else 0
        whole = torch.tensor(values).reshape(shape) - offset
        with torch.no_grad():
            for each, piece in zip(group, whole.split([len(each) for each in group])):
                each.copy_(piece)
        shapes[name] = {"shape": shape, "ternary": ternary} if ternary else {"shape": shape}
    return shapes


def number(kind):
    return lambda value: {"type": kind, "value": value}


u32, f32 = number("uint32"), number("float32")


def metadata(arch, config, more):
    keys = {
        "context_length": u32(64),
        "embedding_length": u32(config["hidden_size"]),
        "feed_forward_length": u32(config["intermediate_size"]),
        "block_count": u32(config["num_hidden_layers"]),
        "attention.head_count": u32(config["num_attention_heads"]),
        **more,
    }
    return {f"{arch}.{key}": value for key, value in keys.items()}


def decoder(heads=2, kv=1, head=8, theta=10000.0, epsilon=1e-6):
    return {
        "attention.head_count_kv": u32(kv),
        "attention.key_length": u32(head),
        "attention.value_length": u32(head),
        "attention.layer_norm_rms_epsilon": f32(epsilon),
        "rope.freq_base": f32(theta),
    }


SMALL = {"hidden_size": 16, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 20, "max_position_embeddings": 64}
LARGE = {**SMALL, "hidden_size": 128, "intermediate_size": 256}
IDS = [1, 7, 5, 19, 4, 11, 8, 8, 3, 14, 6, 2]


def gemma(sizes, layers, kv, head, window, pattern, **more):
    return {
        **sizes,
        "num_hidden_layers": layers,
        "num_key_value_heads": kv,
        "head_dim": head,
        "query_pre_attn_scalar": head,
        "rms_norm_eps": 1e-6,
        "sliding_window": window,
        "layer_types": ["sliding_attention" if (layer + 1) % pattern else "full_attention" for layer in range(layers)],
        "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 300.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        },
        "pad_token_id": 0,
        **more,
    }


def qwen(sizes, head, **more):
    theta = {"rope_type": "default", "rope_theta": 500.0}
    return {**sizes, "num_key_value_heads": 1, "head_dim": head, "rms_norm_eps": 1e-6, "rope_parameters": theta, **more}


CASES = [
    {
        "name": "nomic-bert",
        "arch": "nomic-bert",
        "model": "NomicBertModel",
        "config": {**SMALL, "type_vocab_size": 2, "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}},
        "more": {"attention.layer_norm_epsilon": f32(1e-12), "attention.causal": {"type": "bool", "value": False}, "rope.freq_base": f32(1000.0)},
        "pooling": "mean",
    },
    {
        "name": "gemma-embedding",
        "arch": "gemma-embedding",
        "model": "Gemma3TextModel",
        # transformers takes the whole window, and keeps half of it and 1.
        "config": gemma(SMALL, 7, 1, 8, 6, 6, use_bidirectional_attention=True),
        "more": {**decoder(theta=300.0), "attention.sliding_window": u32(6), "dense_2_feat_in": u32(16), "dense_2_feat_out": u32(24), "dense_3_feat_in": u32(24), "dense_3_feat_out": u32(16)},
        "pooling": "mean",
        "dense": {"dense_2.weight": (24, 16), "dense_3.weight": (16, 24)},
    },
    {
        "name": "gemma3 with pooling and a window",
        "arch": "gemma3",
        "model": "Gemma3TextModel",
        "config": gemma(SMALL, 3, 1, 8, 3, 2),
        "more": {**decoder(theta=300.0), "attention.sliding_window": u32(3), "attention.sliding_window_pattern": u32(2)},
        "pooling": "mean",
    },
    {
        "name": "qwen3 with pooling",
        "arch": "qwen3",
        "model": "Qwen3Model",
        "config": qwen(SMALL, 8),
        "more": decoder(theta=500.0),
        "pooling": "last",
    },
    {
        "name": "qwen2 without causal attention",
        "arch": "qwen2",
        "model": "Qwen2Model",
        "config": {**SMALL, "num_key_value_heads": 1, "rms_norm_eps": 1e-6, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
        "more": {**decoder(theta=500.0), "attention.causal": {"type": "bool", "value": False}},
        "pooling": "mean",
        "bidirectional": True,
    },
    {
        "name": "bitnet-b1.58",
        "arch": "bitnet-b1.58",
        "model": "BitNetForCausalLM",
        "config": {**LARGE, "num_key_value_heads": 1, "rms_norm_eps": 1e-5, "tie_word_embeddings": True, "hidden_act": "relu2", "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
        "more": decoder(head=64, theta=500.0, epsilon=1e-5),
        "rounded": True,
    },
    {
        "name": "bitnet",
        "arch": "bitnet",
        "model": "BitNetForCausalLM",
        "config": {**LARGE, "num_key_value_heads": 1, "rms_norm_eps": 1e-5, "tie_word_embeddings": True, "hidden_act": "silu", "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
        "more": decoder(head=64, theta=500.0, epsilon=1e-5),
        "rounded": True,
    },
    {
        "name": "BitNet embedding model like Qwen3",
        "arch": "qwen3",
        "model": "Qwen3Model",
        "config": qwen(LARGE, 64),
        "more": decoder(head=64, theta=500.0),
        "pooling": "mean",
        "rounded": True,
        "norms": True,
    },
    {
        "name": "BitNet embedding model like Gemma 3",
        "arch": "gemma3",
        "model": "Gemma3TextModel",
        "config": gemma(LARGE, 2, 1, 64, 4096, 1),
        "more": decoder(head=64, theta=300.0),
        "pooling": "mean",
        "rounded": True,
        "norms": True,
    },
]


def numbers(tensor):
    return [float(f"{value:.7g}") for value in tensor.flatten().tolist()]


def run(model, case, dense):
    causal = {}
    if case.get("bidirectional"):
        length = len(IDS)
        causal["attention_mask"] = {"full_attention": torch.zeros(1, 1, length, length)}
    with torch.no_grad():
        result = model(input_ids=torch.tensor([IDS]), **causal)
    states = (result.logits if hasattr(result, "logits") else result.last_hidden_state)[0]
    if "pooling" not in case:
        return states, None
    vector = states.mean(0) if case["pooling"] == "mean" else states[-1]
    for name in sorted(dense):
        vector = dense[name] @ vector
    return states, vector / vector.norm()


cases = []
for case in CASES:
    kind = getattr(transformers, case["model"])
    config = kind.config_class(**case["config"], attn_implementation="eager")
    model = kind(config).eval()
    body = getattr(model, "model", model)
    is_ternary = case.get("rounded", False)
    if case.get("norms"):
        replace_linears(body, lambda linear: NormedLinear(linear, 1e-6))
    elif is_ternary:
        replace_linears(body, RoundedLinear)
    dense = {name: torch.zeros(shape) for name, shape in case.get("dense", {}).items()}
    shapes = fill(model, dense, case["arch"], is_ternary)
    ROUNDS = False
    states, vector = run(model, case, dense)
    pooling = {"pooling_type": u32({"mean": 1, "last": 3}[case["pooling"]])} if "pooling" in case else {}
    made = {
        "name": case["name"],
        "architecture": case["arch"],
        "metadata": metadata(case["arch"], case["config"], {**case["more"], **pooling}),
        "tensors": shapes,
        "output": "last_hidden_state" if "pooling" in case else "logits",
        "states": numbers(states),
    }
    if vector is not None:
        made["vector"] = numbers(vector)
    if is_ternary:
        ROUNDS = True
        made["rounded"] = numbers(run(model, case, dense)[0])
    print(case["name"], states.shape, states.abs().max().item(), (torch.tensor(made["rounded"]) - states.flatten()).abs().max().item() if is_ternary else "")
    cases.append(made)
made = {"by": f"transformers {transformers.__version__}, torch {torch.__version__}, gguf", "ids": IDS, "cases": cases}
OUT.write_text(json.dumps(made) + "\n")
