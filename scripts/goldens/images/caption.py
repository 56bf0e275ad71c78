"""What transformers' ViT with GPT-2 writes about a picture, for test/reading/fixtures/caption.

    python3 -m venv /tmp/caption && /tmp/caption/bin/pip install torch "transformers<5" pillow
    /tmp/caption/bin/python scripts/goldens/images/caption.py

A tiny model of captions with random weights as two ONNX files, whose decoder keeps the keys and values of its own tokens, as exports of ViT and GPT-2 have them, and
not those of the picture. The tokenizer and the picture are those of test/reading/fixtures/donut.
"""
import json
import pathlib

import torch
import transformers
from PIL import Image

FIXTURES = pathlib.Path(__file__).resolve().parents[3] / "test" / "reading" / "fixtures"
OUT = FIXTURES / "caption"
STEPS = 12
START, END = 0, 2


class Encoder(torch.nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, pixel_values):
        return self.part(pixel_values).last_hidden_state


class Decoder(Encoder):
    def forward(self, input_ids, encoder_hidden_states, *past):
        pairs = tuple((past[at], past[at + 1]) for at in range(0, len(past), 2))
        result = self.part(input_ids=input_ids, encoder_hidden_states=encoder_hidden_states, past_key_values=pairs, use_cache=True)
        return (result.logits, *[each for layer in result.past_key_values for each in layer[:2]])


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(4)
    encoder = transformers.ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, image_size=16, patch_size=8)
    decoder = transformers.GPT2Config(vocab_size=52, n_embd=12, n_layer=2, n_head=2, n_positions=32, add_cross_attention=True, is_decoder=True, bos_token_id=START, eos_token_id=END)
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    model = transformers.VisionEncoderDecoderModel(config).float().eval()
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            scale = 1.5 if "wpe" in name else 0.5 if tensor.dim() > 1 else 0.1
            tensor.copy_(torch.randn(tensor.shape) * scale + (1 if ("norm" in name or ".ln_" in name) and name.endswith("weight") else 0))
    processor = transformers.ViTImageProcessor(size={"height": 16, "width": 16})
    pixels = processor(Image.open(FIXTURES / "donut" / "receipt.png").convert("RGB"), return_tensors="pt").pixel_values
    with torch.no_grad():
        hidden = model.encoder(pixels).last_hidden_state
        projected = model.enc_to_dec_proj(hidden)
        ids, margins = [START], []
        while len(ids) <= STEPS and (len(ids) == 1 or ids[-1] != END):
            logits = model.decoder(input_ids=torch.tensor([ids]), encoder_hidden_states=projected).logits[0, -1]
            top = torch.topk(logits, 2).values
            margins.append((top[0] - top[1]).item())
            ids.append(int(logits.argmax()))
        print(min(margins), ids)

        class Projected(Encoder):
            def forward(self, pixel_values):
                return model.enc_to_dec_proj(self.part(pixel_values).last_hidden_state)

        whole = Projected(model.encoder)
        whole.projection = model.enc_to_dec_proj
        torch.onnx.export(whole, (pixels,), str(OUT / "encoder_model.onnx"), input_names=["pixel_values"], output_names=["last_hidden_state"], opset_version=14, dynamic_axes={"pixel_values": {0: "batch_size"}, "last_hidden_state": {0: "batch_size"}})
        past = [torch.randn(1, 2, 3, 6) for _ in range(4)]
        names = [f"{layer}.{part}" for layer in range(2) for part in ("key", "value")]
        axes = {"input_ids": {0: "batch_size", 1: "decoder_sequence_length"}, "encoder_hidden_states": {0: "batch_size"}}
        axes |= {f"past_key_values.{name}": {0: "batch_size", 2: "past_decoder_sequence_length"} for name in names}
        torch.onnx.export(
            Decoder(model.decoder), (torch.tensor([[4, 5]]), projected, *past), str(OUT / "decoder_model.onnx"), opset_version=14, dynamic_axes=axes,
            input_names=["input_ids", "encoder_hidden_states", *[f"past_key_values.{name}" for name in names]], output_names=["logits", *[f"present.{name}" for name in names]],
        )
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (OUT / file).write_bytes((FIXTURES / "donut" / file).read_bytes())
    processor.save_pretrained(OUT)
    small = {"model_type": "vision-encoder-decoder", "architectures": ["VisionEncoderDecoderModel"], "decoder_start_token_id": START, "eos_token_id": END}
    (OUT / "config.json").write_text(json.dumps({**small, "encoder": {"model_type": "vit"}, "decoder": {"model_type": "gpt2"}}, indent=2) + "\n")
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(OUT)
    made = {"by": f"transformers {transformers.__version__}, torch {torch.__version__}", "ids": ids[1:], "text": tokenizer.decode(ids[1:], skip_special_tokens=True)}
    (OUT / "goldens.json").write_text(json.dumps(made, indent=1) + "\n")


main()
