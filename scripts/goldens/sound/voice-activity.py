"""Writes test/speech/fixtures/voice-activity-goldens.json: segments of speech in samples at 16 kHz, as silero-vad finds them in wave files.

python scripts/goldens/sound/voice-activity.py FOLDER_OF_silero_vad FOLDER_OF_WAVE_FILES, with onnxruntime, soundfile and soxr.
The windows are run as the package's OnnxWrapper does, which needs PyTorch; its function get_speech_timestamps_from_probs is run itself.
"""
import ast
import json
import sys
from typing import List

import numpy as np
import onnxruntime
import soundfile
import soxr

package, sounds = sys.argv[1:3]
path = f"{package}/utils_vad.py"
tree = ast.parse(open(path).read())
function = next(n for n in tree.body if getattr(n, "name", "") == "get_speech_timestamps_from_probs")
scope = {"List": List}
exec(compile(ast.Module([function], []), path, "exec"), scope)
session = onnxruntime.InferenceSession(f"{package}/data/silero_vad.onnx")
rate = np.array(16000, dtype=np.int64)

files = []
for name in ("beckett", "two_cities", "endgame_nagg_nell", "clone-test", "success", "error"):
    samples, given = soundfile.read(f"{sounds}/{name}.wav", dtype="float32")
    if given != 16000:
        samples = soxr.resample(samples, given, 16000, quality="HQ")
    state, context, probabilities = np.zeros((2, 1, 128), np.float32), np.zeros((1, 64), np.float32), []
    for start in range(0, len(samples), 512):
        window = samples[start : start + 512]
        window = np.concatenate([context, np.pad(window, (0, 512 - len(window)))[None]], 1).astype(np.float32)
        output, state = session.run(None, {"input": window, "state": state, "sr": rate})
        context = window[:, -64:]
        probabilities.append(float(output[0, 0]))
    find = lambda **options: [
        [each["start"], each["end"]]
        for each in scope["get_speech_timestamps_from_probs"](probabilities, audio_length_samples=len(samples), **options)
    ]
    files.append(dict(file=f"{name}.wav", length=len(samples), segments=find(), cut=find(max_speech_duration_s=3, min_silence_duration_ms=500)))
rows = ",\n".join(json.dumps(each) for each in files)
open("test/speech/fixtures/voice-activity-goldens.json", "w").write(f"[\n{rows}\n]\n")
