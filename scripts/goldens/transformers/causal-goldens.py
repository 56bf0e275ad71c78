"""What transformers computes, for src/engine/transformers/causal-goldens.json.

    python3 -m venv /tmp/causal && /tmp/causal/bin/pip install torch transformers
    /tmp/causal/bin/python scripts/goldens/transformers/causal-goldens.py

Tiny decoders whose weights follow from a formula, so that the test makes the same ones: tensors in the order of their names, elements in row-major order,
each from the next state of a Lehmer generator (state * 16807 modulo 2^31 - 1, from 1 on): ((state % 129) - 64) / 128. For each model the logits of all
positions; position ids reach beyond the original context, where scaled rotary embeddings differ.
"""
import json
import pathlib

import torch
import transformers

OUT = pathlib.Path(__file__).resolve().parent.parent / "src" / "engine" / "transformers" / "causal-goldens.json"
SIZES = {
    "hidden_size": 16,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "vocab_size": 20,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
}
IDS = [3, 7, 1, 19, 4, 11]
POSITIONS = [0, 1, 9, 17, 40, 63]

LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0, 1.25, 1.5, 2.0], "long_factor": [2.0, 4.0, 8.0, 16.0]}
CASES = [
    ("Qwen3ForCausalLM", {}),
    ("MistralForCausalLM", {"sliding_window": 3}),
    ("Qwen3ForCausalLM", {"attention_bias": True, "tie_word_embeddings": True}),
    ("LlamaForCausalLM", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    ("LlamaForCausalLM", {"rope_scaling": LLAMA3, "rope_theta": 500.0}),
    ("LlamaForCausalLM", {"rope_scaling": YARN}),
    ("Qwen2ForCausalLM", {"rope_scaling": {**YARN, "beta_fast": 2.0, "beta_slow": 0.5, "attention_factor": 1.5}}),
    ("LlamaForCausalLM", {"rope_parameters": {**YARN, "rope_theta": 300.0, "beta_fast": 4.0, "beta_slow": 0.1, "truncate": False}}),
    ("Qwen2ForCausalLM", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}),
    ("Gemma2ForCausalLM", {"sliding_window": 3, "query_pre_attn_scalar": 12, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 5.0, "tie_word_embeddings": True}),
    ("Gemma2ForCausalLM", {"sliding_window": 3, "layer_types": ["full_attention", "sliding_attention"], "attn_logit_softcapping": None, "final_logit_softcapping": None}),
    (
        "Gemma3ForCausalLM",
        {"sliding_window": 3, "sliding_window_pattern": 2, "query_pre_attn_scalar": 12, "rope_local_base_freq": 50.0, "rope_theta": 300.0, "rope_scaling": {"rope_type": "linear", "factor": 4.0}, "tie_word_embeddings": True},
    ),
    (
        "Gemma3ForCausalLM",
        {
            "sliding_window": 3,
            "layer_types": ["full_attention", "sliding_attention"],
            "final_logit_softcapping": 5.0,
            "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 300.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}},
        },
    ),
    ("Phi3ForCausalLM", {"sliding_window": 3, "partial_rotary_factor": 0.5, "pad_token_id": 0}),
    ("Phi3ForCausalLM", {"rope_scaling": LONGROPE, "original_max_position_embeddings": 64, "max_position_embeddings": 256, "pad_token_id": 0}),
    ("LlamaForCausalLM", {"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}),
    ("OPTForCausalLM", {"ffn_dim": 12, "word_embed_proj_dim": 16, "tie_word_embeddings": True}),
    ("OPTForCausalLM", {"ffn_dim": 12, "word_embed_proj_dim": 6, "do_layer_norm_before": False, "activation_function": "gelu"}),
]


def parameters(config):
    """The settings as the installed version of transformers takes them: rope_theta within rope_parameters."""
    result = {**SIZES, **config}
    scaling = result.pop("rope_scaling", None)
    theta = result.pop("rope_theta", 10000.0)
    local = result.pop("rope_local_base_freq", None)
    usual = {**(scaling or {"rope_type": "default"}), "rope_theta": theta}
    for key in ("partial_rotary_factor", "original_max_position_embeddings"):
        if key in result:
            usual[key] = result[key]
    if local is not None:
        usual = {"full_attention": usual, "sliding_attention": {"rope_type": "default", "rope_theta": local}}
    result.setdefault("rope_parameters", usual)
    return result


def fill(model):
    state = 1
    tensors = model.state_dict()
    for name in sorted(tensors):
        if name == "lm_head.weight" and model.config.tie_word_embeddings:
            continue
        values = []
        for _ in range(tensors[name].numel()):
            state = state * 16807 % 2147483647
            values.append((state % 129 - 64) / 128)
        with torch.no_grad():
            tensors[name].copy_(torch.tensor(values).reshape(tensors[name].shape))


cases = []
for architecture, config in CASES:
    kind = getattr(transformers, architecture)
    model = kind(kind.config_class(**parameters(config), attn_implementation="eager")).eval()
    fill(model)
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([IDS]), position_ids=torch.tensor([POSITIONS])).logits[0]
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items() if not (name == "lm_head.weight" and model.config.tie_word_embeddings)}
    print(architecture, config)
    cases.append({"architecture": architecture, "config": {**SIZES, **config}, "shapes": shapes, "logits": logits.flatten().tolist()})
made = {"by": f"transformers {transformers.__version__}, torch {torch.__version__}", "ids": IDS, "positions": POSITIONS, "cases": cases}
OUT.write_text(json.dumps(made, indent=1) + "\n")
