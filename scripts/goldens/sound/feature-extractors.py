"""Writes src/processors/audio/feature-extractor.goldens.json: features of transformers' extractors (their NumPy code, without PyTorch).

python scripts/goldens/sound/feature-extractors.py
"""
import base64
import json
import math
import sys
import types

import numpy as np
import transformers.models.audio_spectrogram_transformer.feature_extraction_audio_spectrogram_transformer as ast
from transformers import SeamlessM4TFeatureExtractor, Wav2Vec2FeatureExtractor


def sound(length):
    state, samples = 1, []
    for index in range(length):
        state = (state * 48271) % 2147483647
        samples.append(0.5 * math.sin(0.00002 * index * index) + 0.01 * (state / 2147483647 - 0.5) + 0.05)
    return np.array(samples).astype(np.float32)


class Padding:
    """torch.nn.ZeroPad2d((0, 0, 0, rows)) and torch.from_numpy, for the extractor of AST, which has no NumPy code for them."""
    def __init__(self, sizes):
        self.rows = sizes[3]

    def __call__(self, array):
        return Array(np.pad(array, ((0, self.rows), (0, 0))))


class Array(np.ndarray):
    def __new__(cls, array):
        return np.asarray(array).view(cls)

    def numpy(self):
        return np.asarray(self)


ast.torch = types.SimpleNamespace(from_numpy=Array, nn=types.SimpleNamespace(ZeroPad2d=Padding))
ast.is_speech_available = lambda: False

cases = []
for name, create, config, length in (
    ("Wav2Vec2FeatureExtractor", Wav2Vec2FeatureExtractor, {}, 9001),
    ("Wav2Vec2FeatureExtractor", Wav2Vec2FeatureExtractor, dict(do_normalize=False, return_attention_mask=True), 5000),
    ("Wav2Vec2FeatureExtractor", Wav2Vec2FeatureExtractor, dict(return_attention_mask=True), 5000),
    ("ASTFeatureExtractor", ast.ASTFeatureExtractor, dict(max_length=64), 9001),
    ("ASTFeatureExtractor", ast.ASTFeatureExtractor, dict(max_length=20, num_mel_bins=64, mean=-1.5, std=2.5), 9001),
    ("ASTFeatureExtractor", ast.ASTFeatureExtractor, dict(max_length=30, do_normalize=False), 9001),
    ("SeamlessM4TFeatureExtractor", SeamlessM4TFeatureExtractor, {}, 9001),
    ("SeamlessM4TFeatureExtractor", SeamlessM4TFeatureExtractor, {}, 8700),
    ("SeamlessM4TFeatureExtractor", SeamlessM4TFeatureExtractor, dict(stride=4), 8700),
):
    extractor = create(**config)
    features = extractor(sound(length), sampling_rate=16000, return_tensors="np")
    key = next(k for k in features if k != "attention_mask")
    values = np.asarray(features[key], dtype=np.float32)
    step = max(1, values.size // 500)
    mask = [int(each) for each in np.asarray(features["attention_mask"]).ravel()] if "attention_mask" in features else None
    cases.append(dict(name=name, config=config, length=length, input=key, shape=list(values.shape), step=step,
                      masked=None if mask is None else [len(mask), sum(mask)],
                      values=base64.b64encode(values.ravel()[::step].tobytes()).decode()))
result = dict(source="transformers 5.24.0; scripts/goldens/sound/feature-extractors.py", cases=cases)
open("src/processors/audio/feature-extractor.goldens.json", "w").write(json.dumps(result, indent=1) + "\n")
