"""rapidocr or faster-whisper on lists of files: originals.py TASK MODEL THREADS, a list of paths as JSON per line of stdin."""
import json
import logging
import sys

task, model, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])


def create():
    if task == "read":
        import rapidocr

        logging.disable(logging.CRITICAL)
        reader = rapidocr.RapidOCR(params={"EngineConfig.onnxruntime.intra_op_num_threads": threads})
        return f"rapidocr of Python, {threads} threads", lambda path: "\n".join(reader(path).txts or ())
    import faster_whisper

    whisper = faster_whisper.WhisperModel(f"{model}/ctranslate2", device="cpu", compute_type="float32", cpu_threads=threads)
    options = dict(language="en", beam_size=1, temperature=0, vad_filter=False, without_timestamps=True, condition_on_previous_text=False)
    return f"faster-whisper {faster_whisper.__version__}, float32, {threads} threads", lambda path: "".join(
        segment.text for segment in whisper.transcribe(path, **options)[0]
    ).strip()


what, run = create()
print(json.dumps({"what": what}), flush=True)
for line in sys.stdin:
    print(json.dumps({"texts": [run(path) for path in json.loads(line)]}), flush=True)
