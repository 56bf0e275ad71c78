"""What transformers' Donut makes of pictures, for test/reading/fixtures/donut, and of texts with tags, for src/tasks/reading/token-fields-goldens.json.

    python3 -m venv /tmp/donut && /tmp/donut/bin/pip install torch "transformers<5" onnx pillow tokenizers
    /tmp/donut/bin/python scripts/goldens/images/donut.py

A tiny Donut with random weights as two ONNX files, encoder_model.onnx and decoder_model.onnx, its tokenizer and preprocessor; a picture; the tokens that greedy search
gives after two prompts, in PyTorch, and their fields by DonutProcessor.token2json.
"""
import json
import pathlib
import random
import re
import sys

import torch
import transformers
from PIL import Image
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "test" / "reading" / "fixtures" / "donut"
SIDE = (32, 48)
TAGS = ["<s_menu>", "</s_menu>", "<s_nm>", "</s_nm>", "<s_price>", "</s_price>", "<sep/>", "<yes/>", "<no/>", "<s_task>"]
STEPS = 24


def token2json(text, added):
    holder = transformers.DonutProcessor.__new__(transformers.DonutProcessor)
    return transformers.DonutProcessor.token2json(holder, text, added_vocab=added)


def texts():
    """Texts with tags in any order, well-formed and not."""
    draw = random.Random(3)
    fixed = [
        "",
        "only a text",
        "<s_menu><s_nm>tea</s_nm><s_price>2.50</s_price><sep/><s_nm>cake</s_nm><s_price>4</s_price></s_menu>",
        "<s_nm>a<sep/>b<sep/> c </s_nm>",
        "<s_nm><yes/></s_nm><s_price><no/><sep/><yes/></s_price><s_menu><maybe/></s_menu>",
        "<S_Nm>x</S_nM>",
        "</s_nm><s_nm>behind",
        "<s_nm>one</s_nm><s_nm>two</s_nm>",
        "<s_>empty</s_><s___proto__>p</s___proto__>",
        "<s_a.b>dot</s_a.b><s_nm>line\nbreak</s_nm>",
    ]
    parts = TAGS + ["tea", " ", "2.50", "<s_a>", "</s_a>"]
    return fixed + ["".join(draw.choice(parts) for _ in range(draw.randint(1, 14))) for _ in range(60)]


def make_tokenizer():
    words = [*"abcdefghijklmnopqrstuvwxyz0123456789.", "▁"]
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, **{word: 4 + at for at, word in enumerate(words)}}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Split("", "isolated")])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken(tag) for tag in TAGS])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>")


def main(seed):
    OUT.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    torch.manual_seed(seed)
    encoder = transformers.DonutSwinConfig(image_size=SIDE, patch_size=4, embed_dim=8, depths=[1, 1], num_heads=[1, 2], window_size=2, mlp_ratio=2.0)
    decoder = transformers.MBartConfig(
        vocab_size=len(tokenizer), d_model=16, decoder_layers=1, decoder_attention_heads=2, decoder_ffn_dim=24, max_position_embeddings=64,
        is_decoder=True, add_cross_attention=True, add_final_layer_norm=True, scale_embedding=True, encoder_layers=1, encoder_attention_heads=2, encoder_ffn_dim=24,
    )
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    start = tokenizer.convert_tokens_to_ids("<s_task>")
    config.update({"decoder_start_token_id": start, "pad_token_id": 1, "eos_token_id": 2})
    model = transformers.VisionEncoderDecoderModel(config).float().eval()
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            scale = 1.5 if "embed_positions" in name else 0.5 if tensor.dim() > 1 else 0.1
            tensor.copy_(torch.randn(tensor.shape) * scale + (1 if "norm" in name.lower() and name.endswith("weight") else 0))
    processor = transformers.DonutImageProcessor(size={"height": SIDE[0], "width": SIDE[1]}, do_align_long_axis=False)
    draw = random.Random(5)
    picture = Image.new("RGB", (60, 40))
    picture.putdata([tuple(draw.randrange(256) for _ in range(3)) for _ in range(60 * 40)])
    picture = picture.resize((120, 80), Image.Resampling.BILINEAR)  # of the proportions that the model takes: transformers 4 and 5 shrink others by other filters
    picture.save(OUT / "receipt.png")
    pixels = processor(picture, return_tensors="pt").pixel_values
    samples = []
    with torch.no_grad():
        hidden = model.encoder(pixels).last_hidden_state
        for prompt in [None, "<s_task><s_nm>ab</s_nm><s_price>"]:
            ids = [start] if prompt is None else tokenizer(prompt, add_special_tokens=False).input_ids
            given, margins = len(ids), []
            while len(ids) < given + STEPS:
                logits = model.decoder(input_ids=torch.tensor([ids]), encoder_hidden_states=hidden).logits[0, -1]
                top = torch.topk(logits, 2).values
                margins.append((top[0] - top[1]).item())
                ids.append(int(logits.argmax()))
                if ids[-1] == 2:
                    break
            text = tokenizer.decode(ids).replace("</s>", "").replace("<pad>", "")
            fields = token2json(re.sub(r"<.*?>", "", text, count=1).strip(), tokenizer.get_added_vocab())
            samples.append({"prompt": prompt, "ids": ids[given:], "text": text, "fields": fields})
            print(min(margins), ids[given:], repr(text), fields)

        class Part(torch.nn.Module):
            def __init__(self, part):
                super().__init__()
                self.part = part

        class Decoder(Part):
            def forward(self, input_ids, encoder_hidden_states):
                return self.part(input_ids=input_ids, encoder_hidden_states=encoder_hidden_states, use_cache=False).logits

        class Encoder(Part):
            def forward(self, pixel_values):
                return self.part(pixel_values).last_hidden_state

        torch.onnx.export(Encoder(model.encoder), (pixels,), str(OUT / "encoder_model.onnx"), input_names=["pixel_values"], output_names=["last_hidden_state"], opset_version=14, dynamic_axes={"pixel_values": {0: "batch_size"}, "last_hidden_state": {0: "batch_size"}})
        example = (torch.tensor([[start, 4, 5]]), hidden)
        axes = {"input_ids": {0: "batch_size", 1: "decoder_sequence_length"}, "encoder_hidden_states": {0: "batch_size"}, "logits": {0: "batch_size", 1: "decoder_sequence_length"}}
        torch.onnx.export(Decoder(model.decoder), example, str(OUT / "decoder_model.onnx"), input_names=["input_ids", "encoder_hidden_states"], output_names=["logits"], opset_version=14, dynamic_axes=axes)
    tokenizer.save_pretrained(OUT)
    for file in OUT.glob("special_tokens_map.json"):
        file.unlink()
    processor.save_pretrained(OUT)
    small = {"model_type": "vision-encoder-decoder", "architectures": ["VisionEncoderDecoderModel"], "decoder_start_token_id": start, "pad_token_id": 1, "eos_token_id": 2}
    small |= {"encoder": {"model_type": "donut-swin"}, "decoder": {"model_type": "mbart", "max_position_embeddings": 64}}
    (OUT / "config.json").write_text(json.dumps(small, indent=2) + "\n")
    (OUT / "goldens.json").write_text(json.dumps({"by": f"transformers {transformers.__version__}, torch {torch.__version__}", "samples": samples}, indent=1) + "\n")
    added = {"<yes/>": 1, "<no/>": 2, "<sep/>": 3}
    cases = [{"text": text, "fields": token2json(text, added)} for text in texts()]
    fields = {"by": f"transformers {transformers.__version__}", "added": list(added), "cases": cases}
    (ROOT / "src" / "tasks" / "reading" / "token-fields-goldens.json").write_text(json.dumps(fields, indent=1) + "\n")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
