"""What transformers computes, for test/generation/fixtures/encoder-decoder-goldens.json.

    python3 -m venv /tmp/causal && /tmp/causal/bin/pip install torch transformers
    /tmp/causal/bin/python scripts/goldens/transformers/encoder-decoder-goldens.py

Tiny encoder-decoder models whose weights follow from the formula in causal-goldens.py, with (state % 129 - 64) / 48, and / 1024 for biases, so that the texts
are no repetitions. For each model the tokens of greedy search for sources and beginnings of
several lengths, and the logits of the first token.
"""
import json
import pathlib

import torch
import transformers

OUT = pathlib.Path(__file__).resolve().parent.parent / "test" / "fixtures" / "encoder-decoder-goldens.json"
BART = {
    "vocab_size": 40,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 12,
    "decoder_ffn_dim": 20,
    "max_position_embeddings": 48,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
T5 = {"vocab_size": 40, "d_model": 16, "d_kv": 8, "d_ff": 12, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 12}
CASES = [
    ("BartForConditionalGeneration", {**BART}),
    ("BartForConditionalGeneration", {**BART, "scale_embedding": True, "activation_function": "relu"}),
    ("MBartForConditionalGeneration", {**BART, "scale_embedding": True}),
    ("MarianMTModel", {**BART, "decoder_start_token_id": 1, "scale_embedding": True, "activation_function": "swish"}),
    ("PegasusForConditionalGeneration", {**BART, "pad_token_id": 0, "decoder_start_token_id": 0, "scale_embedding": True, "activation_function": "relu"}),
    ("M2M100ForConditionalGeneration", {**BART, "scale_embedding": True, "activation_function": "relu"}),
    ("T5ForConditionalGeneration", T5),
    ("T5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
]
SOURCES = [[5, 9, 33, 7, 20, 2], [12, 3, 4], [30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 8, 2]]
PREFIXES = [[], [17, 3], [29, 11, 6, 25, 14]]
STEPS = 8


def fill(tensors):
    """Sets each tensor that files hold, in the order of the names."""
    state = 1
    for name in sorted(tensors):
        values = []
        for _ in range(tensors[name].numel()):
            state = state * 16807 % 2147483647
            values.append((state % 129 - 64) / (1024 if name.endswith("bias") else 48))
        with torch.no_grad():
            tensors[name].copy_(torch.tensor(values).reshape(tensors[name].shape))


def stored(model):
    """The tensors that save_pretrained writes: tied and computed ones once or not at all."""
    skipped = ("embed_positions.weights", "embed_positions.weight") if not model.__class__.__name__.startswith(("Bart", "MBart")) else ()
    result, seen = {}, set()
    for name, tensor in model.state_dict().items():
        if tensor.data_ptr() in seen or name.endswith(skipped):
            continue
        seen.add(tensor.data_ptr())
        result[name] = tensor
    return result


cases = []
for architecture, config in CASES:
    kind = getattr(transformers, architecture)
    model = kind(kind.config_class(**config)).float().eval()
    tensors = stored(model)
    if "T5" in architecture:
        tensors = {("shared.weight" if name.endswith("embed_tokens.weight") else name): tensor for name, tensor in tensors.items()}
    fill(tensors)
    start = config["decoder_start_token_id"]
    samples = []
    for source, prefix in zip(SOURCES, PREFIXES):
        tokens, margins = [start, *prefix], []
        for step in range(STEPS):
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([tokens])).logits[0, -1]
            if step == 0:
                first = logits.tolist()
            best = torch.topk(logits, 2).values
            margins.append((best[0] - best[1]).item())
            tokens.append(int(logits.argmax()))
        samples.append({"source": source, "prompt": [start, *prefix], "continuation": tokens[1 + len(prefix) :], "logits": first})
        print(architecture, min(margins), tokens)
    cases.append({"architecture": architecture, "config": config, "shapes": {name: list(tensor.shape) for name, tensor in tensors.items()}, "samples": samples})
made = {"by": f"transformers {transformers.__version__}, torch {torch.__version__}", "cases": cases}
OUT.write_text(json.dumps(made, indent=1) + "\n")
