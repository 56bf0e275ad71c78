"""Writes src/tasks/speech/voice-activity/speech-segments.goldens.json: segments that silero-vad finds in random probabilities.

python scripts/goldens/sound/speech-segments.py PATH_OF_utils_vad.py
Only the function get_speech_timestamps_from_probs of the package is run; it needs no PyTorch.
"""
import ast
import base64
import json
import random
import sys
from typing import List

path = sys.argv[1]
tree = ast.parse(open(path).read())
function = next(n for n in tree.body if getattr(n, "name", "") == "get_speech_timestamps_from_probs")
scope = {"List": List}
exec(compile(ast.Module([function], []), path, "exec"), scope)

names = dict(
    threshold="threshold", negativeThreshold="neg_threshold", minSpeechMs="min_speech_duration_ms",
    maxSpeechSeconds="max_speech_duration_s", minSilenceMs="min_silence_duration_ms", speechPadMs="speech_pad_ms",
    minSilenceAtCutMs="min_silence_at_max_speech", cutAtLongestSilence="use_max_poss_sil_at_max_speech",
)
source = random.Random(7)
cases = []
for index in range(60):
    level, values = 0.5, []
    for _ in range(source.randint(1, 400)):
        if source.random() < 0.08:
            level = source.choice([0.02, 0.1, 0.3, 0.4, 0.6, 0.95])
        values.append(max(0, min(255, round(255 * (level + source.gauss(0, 0.08))))))
    options = {}
    if index >= 10:
        for name, allowed in dict(
            threshold=[0.3, 0.5, 0.8], negativeThreshold=[0.05, 0.2, 0.5], minSpeechMs=[0, 100, 1000],
            maxSpeechSeconds=[0.5, 1, 2, 3], minSilenceMs=[0, 50, 300, 2000], speechPadMs=[0, 45.5, 200, 400],
            minSilenceAtCutMs=[0, 30, 200], cutAtLongestSilence=[True, False],
        ).items():
            if source.random() < (0.8 if name == "maxSpeechSeconds" else 0.5):
                options[name] = source.choice(allowed)
    length = len(values) * 512 - source.randint(0, 511)
    found = scope["get_speech_timestamps_from_probs"](
        [value / 255 for value in values], audio_length_samples=length, **{names[name]: value for name, value in options.items()}
    )
    cases.append(dict(
        probabilities=base64.b64encode(bytes(values)).decode(), length=length, options=options,
        segments=[[each["start"], each["end"]] for each in found],
    ))
target = "src/tasks/speech/voice-activity/speech-segments.goldens.json"
rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
open(target, "w").write(f'{{"source": "silero-vad 6.2.3; scripts/goldens/sound/speech-segments.py", "cases": [\n{rows}\n]}}\n')
print(sum(len(case["segments"]) for case in cases), "segments")
