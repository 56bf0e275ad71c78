"""Writes src/processors/audio/decode-sound.goldens.json: a short sound in each format, and the samples that libsndfile reads.

python scripts/goldens/sound/decode-sound.py, with soundfile and av.
"""
import base64
import io
import json
from fractions import Fraction

import av
import numpy as np
import soundfile

source = np.random.default_rng(1)


def sound(rate, channels, length):
    time = np.arange(length) / rate
    tones = [0.4 * np.sin(2 * np.pi * (300 + 200 * channel) * time) for channel in range(channels)]
    return (np.stack(tones, 1) + 0.01 * source.standard_normal((length, channels))).astype(np.float32)


def ffmpeg(samples, rate, codec, container):
    file = io.BytesIO()
    with av.open(file, "w", format=container) as output:
        stream = output.add_stream(codec, rate=rate)
        stream.layout = "mono"
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.T), format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            output.mux(packet)
    return file.getvalue()


def encode(samples, rate, container, subtype):
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=container, subtype=subtype)
    return file.getvalue()


def b64(data):
    return base64.b64encode(data).decode()


cases = []
for name, container, subtype, rate, channels in (
    ("MP3", "MP3", "MPEG_LAYER_III", 8000, 1), ("MP3 of two channels", "MP3", "MPEG_LAYER_III", 16000, 2),
    ("FLAC of 16 bits", "FLAC", "PCM_16", 8000, 2), ("FLAC of 24 bits", "FLAC", "PCM_24", 8000, 1),
    ("Ogg Vorbis", "OGG", "VORBIS", 8000, 1), ("Ogg Opus", "OGG", "OPUS", 48000, 1), ("WAVE", "WAV", "PCM_16", 8000, 1),
):
    file = encode(sound(rate, channels, rate // 8), rate, container, subtype)
    read, _ = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)
    cases.append(dict(name=name, sampleRate=rate, channels=channels, frames=len(read), file=b64(file), first=b64(read[:300, 0].tobytes())))
unread = {
    "M4A": b64(ffmpeg(sound(8000, 1, 800), 8000, "aac", "ipod")), "AAC": b64(ffmpeg(sound(8000, 1, 800), 8000, "aac", "adts")),
    "WebM": b64(ffmpeg(sound(48000, 1, 960), 48000, "libopus", "webm")),
    "AIFF": b64(encode(sound(8000, 1, 20), 8000, "AIFF", "PCM_16")),
}
result = dict(source="libsndfile through soundfile 0.14.0, FFmpeg through av 18.1.0; scripts/goldens/sound/decode-sound.py", cases=cases, unread=unread)
open("src/processors/audio/decode-sound.goldens.json", "w").write(json.dumps(result, indent=1) + "\n")
