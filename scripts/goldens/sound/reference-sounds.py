"""Writes generated sounds and what the reference implementations make of them, for compare-sounds.ts.

python scripts/goldens/sound/reference-sounds.py FOLDER [COUNT] [SEED], with transformers, soxr and soundfile; no PyTorch.
"""
import io
import json
import os
import sys
import types

import numpy as np
import soundfile
import soxr
import transformers.models.audio_spectrogram_transformer.feature_extraction_audio_spectrogram_transformer as ast
from transformers import SeamlessM4TFeatureExtractor, Wav2Vec2FeatureExtractor, WhisperFeatureExtractor

folder, count, seed = sys.argv[1], int((sys.argv + [0, 50])[2] or 50), int((sys.argv[3:] + [1])[0])
os.makedirs(folder, exist_ok=True)
source = np.random.default_rng(seed)


class Array(np.ndarray):
    def numpy(self):
        return np.asarray(self)


class Padding:
    def __init__(self, sizes):
        self.rows = sizes[3]

    def __call__(self, array):
        return np.pad(array, ((0, self.rows), (0, 0))).view(Array)


# The extractor of AST takes these three of PyTorch, and has NumPy code for the rest.
ast.torch = types.SimpleNamespace(from_numpy=lambda array: np.asarray(array).view(Array), nn=types.SimpleNamespace(ZeroPad2d=Padding))
ast.is_speech_available = lambda: False
extractors = {
    "whisper-80": WhisperFeatureExtractor(), "whisper-128": WhisperFeatureExtractor(feature_size=128),
    "wav2vec2": Wav2Vec2FeatureExtractor(), "ast": ast.ASTFeatureExtractor(), "seamless": SeamlessM4TFeatureExtractor(),
}


def generate(kind, length):
    time = np.arange(length) / 16000
    noise = source.standard_normal(length)
    if kind == "tone":
        return 0.6 * np.sin(2 * np.pi * source.uniform(60, 7000) * time)
    if kind == "chirp":
        return 0.5 * np.sin(2 * np.pi * np.cumsum(np.linspace(40, 7900, length)) / 16000)
    if kind == "white":
        return 0.2 * noise
    if kind == "pink":
        spectrum = np.fft.rfft(noise)
        pink = np.fft.irfft(spectrum / (np.arange(len(spectrum)) + 20), length)
        return 0.7 * pink / np.abs(pink).max()
    if kind == "clicks":
        return np.where(source.uniform(size=length) > 0.999, 0.9, 0.0)
    if kind == "square":
        return 0.4 * np.sign(np.sin(2 * np.pi * 110 * time))
    if kind == "faint":
        return 1e-4 * noise
    if kind == "clipped":
        return np.clip(1.5 * np.sin(2 * np.pi * 300 * time) + 0.1 * noise, -1, 1)
    if kind == "offset":
        return 0.3 + 0.1 * noise
    if kind == "voice":
        carrier = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 30))
        return 0.2 * carrier * (0.5 + 0.5 * np.sin(2 * np.pi * 3 * time)) + 0.002 * noise
    return np.zeros(length)


kinds = ["tone", "chirp", "white", "pink", "clicks", "square", "faint", "clipped", "offset", "voice"]
rates = [8000, 11025, 12000, 22050, 24000, 32000, 44100, 48000]
formats = [("wav", "WAV", "PCM_24"), ("flac", "FLAC", "PCM_16"), ("ogg", "OGG", "VORBIS"), ("mp3", "MP3", "MPEG_LAYER_III")]
index = []
for number in range(count):
    kind, length = kinds[number % len(kinds)], int(source.integers(4000, 160000))
    samples = generate(kind, length).astype(np.float32)
    samples.tofile(f"{folder}/{number}.f32")
    entry = dict(kind=kind, rate=rates[number % len(rates)], outputs={})
    for name, extractor in extractors.items():
        features = extractor(samples, sampling_rate=16000, return_tensors="np")
        values = next(np.asarray(features[key], np.float32) for key in features if key != "attention_mask")
        values.tofile(f"{folder}/{number}-{name}.f32")
        entry["outputs"][name] = list(values.shape)
    faded = samples * np.hanning(length).astype(np.float32)
    faded.tofile(f"{folder}/{number}-faded.f32")
    soxr.resample(faded, entry["rate"], 16000, quality="HQ").astype(np.float32).tofile(f"{folder}/{number}-soxr.f32")
    ending, container, subtype = formats[number % len(formats)]
    soundfile.write(f"{folder}/{number}.{ending}", np.clip(samples, -1, 1), 16000, format=container, subtype=subtype)
    read, _ = soundfile.read(f"{folder}/{number}.{ending}", dtype="float32")
    read.tofile(f"{folder}/{number}-decoded.f32")
    entry["file"] = f"{number}.{ending}"
    index.append(entry)
json.dump(index, open(f"{folder}/index.json", "w"))
