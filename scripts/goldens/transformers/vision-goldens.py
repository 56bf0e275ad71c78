"""What transformers computes, for src/engine/transformers/vision/vision-goldens.json.

    python3 -m venv /tmp/vision && /tmp/vision/bin/pip install torch transformers
    /tmp/vision/bin/python scripts/goldens/transformers/vision-goldens.py

Tiny models of pictures whose weights, like the pixel values, follow from the formula in causal-goldens.py, with (state % 129 - 64) / 128. For each model the
outputs on two pictures, and of models that compare pictures with texts on three texts.
"""
import json
import pathlib

import torch
import transformers

OUT = pathlib.Path(__file__).resolve().parents[3] / "src" / "engine" / "transformers" / "vision" / "vision-goldens.json"
SIDE = 10
TOWER = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12, "image_size": SIDE, "patch_size": 4}
TEXT = {"vocab_size": 20, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 16, "max_position_embeddings": 7}
TEXTS = [[3, 9, 11, 4, 19, 2], [3, 7, 19, 2, 2, 2], [3, 6, 5, 8, 19, 4]]
MASKS = [[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]]
DECODER = {
    "model_type": "trocr",
    "vocab_size": 20,
    "d_model": 12,
    "decoder_layers": 2,
    "decoder_attention_heads": 3,
    "decoder_ffn_dim": 16,
    "max_position_embeddings": 9,
    "cross_attention_hidden_size": 8,
    "is_decoder": True,
    "add_cross_attention": True,
}
CASES = [
    ("ViTModel", {"model_type": "vit", **TOWER}),
    ("ViTForImageClassification", {"model_type": "vit", **TOWER, "qkv_bias": False, "hidden_act": "relu"}),
    ("DeiTForImageClassification", {"model_type": "deit", **TOWER}),
    ("DeiTForImageClassificationWithTeacher", {"model_type": "deit", **TOWER}),
    ("CLIPModel", {"model_type": "clip", "projection_dim": 6, "vision_config": TOWER, "text_config": {**TEXT, "eos_token_id": 2}}),
    ("CLIPModel", {"model_type": "clip", "projection_dim": 6, "vision_config": TOWER, "text_config": {**TEXT, "eos_token_id": 4}}),
    ("CLIPVisionModelWithProjection", {"model_type": "clip_vision_model", "projection_dim": 6, **TOWER}),
    ("CLIPTextModelWithProjection", {"model_type": "clip_text_model", "projection_dim": 6, **TEXT, "eos_token_id": 2}),
    ("SiglipModel", {"model_type": "siglip", "vision_config": {**TOWER, "hidden_size": 12, "num_attention_heads": 3}, "text_config": TEXT}),
    (
        "VisionEncoderDecoderModel",
        {"model_type": "vision-encoder-decoder", "encoder": {"model_type": "deit", **TOWER}, "decoder": {**DECODER, "scale_embedding": True, "activation_function": "relu"}},
    ),
    (
        "VisionEncoderDecoderModel",
        {"model_type": "vision-encoder-decoder", "encoder": {"model_type": "vit", **TOWER}, "decoder": {**DECODER, "tie_word_embeddings": False, "layernorm_embedding": False}},
    ),
]
OUTPUTS = ["logits", "last_hidden_state", "pooler_output", "logits_per_image", "logits_per_text", "text_embeds", "image_embeds"]


def numbers(count, state):
    values = []
    for _ in range(count):
        state = state * 16807 % 2147483647
        values.append((state % 129 - 64) / 128)
    return values, state


def weights(model):
    """The tensors that save_pretrained writes."""
    result, seen = {}, set()
    for name, tensor in model.state_dict().items():
        if tensor.data_ptr() in seen or name.endswith("position_ids"):
            continue
        seen.add(tensor.data_ptr())
        result[name] = tensor
    return result


cases = []
for architecture, values in CASES:
    kind = getattr(transformers, architecture)
    given = json.loads(json.dumps(values))  # from_dict takes fields out of it
    config = kind.config_class.from_dict(given)
    model = kind(config).float().eval()
    stored, state = weights(model), 1
    with torch.no_grad():
        for name in sorted(stored):
            data, state = numbers(stored[name].numel(), state)
            stored[name].copy_(torch.tensor(data).reshape(stored[name].shape))
    pixels = torch.tensor(numbers(2 * 3 * SIDE * SIDE, 7)[0]).reshape(2, 3, SIDE, SIDE)
    inputs = {}
    if "Text" not in architecture:
        inputs["pixel_values"] = pixels
    if architecture in ("CLIPModel", "CLIPTextModelWithProjection"):
        inputs |= {"input_ids": torch.tensor(TEXTS), "attention_mask": torch.tensor(MASKS)}
    if architecture == "SiglipModel":
        inputs["input_ids"] = torch.tensor(TEXTS)
    if architecture == "VisionEncoderDecoderModel":
        inputs["decoder_input_ids"] = torch.tensor(TEXTS[:2])
    with torch.no_grad():
        result = model(**inputs)
    outputs = {name: result[name] for name in OUTPUTS if result.get(name) is not None}
    if "vision_model_output" in result:
        outputs["vision_model_output.last_hidden_state"] = result["vision_model_output"]["last_hidden_state"]
    rounded = {name: {"shape": list(tensor.shape), "data": [float(f"{each:.8g}") for each in tensor.flatten().tolist()]} for name, tensor in outputs.items()}
    cases.append({"architecture": architecture, "config": values, "shapes": {name: list(tensor.shape) for name, tensor in stored.items()}, "outputs": rounded})
    print(architecture, {name: each["shape"] for name, each in rounded.items()})
made = {"by": f"transformers {transformers.__version__}, torch {torch.__version__}", "side": SIDE, "texts": TEXTS, "masks": MASKS, "cases": cases}
OUT.write_text(json.dumps(made) + "\n")
