"""Writes test/fixtures/pictures/goldens.json: what trained models of ../shared/data/vision see in astronaut.jpg, by OpenCV, Pillow and onnxruntime.

python scripts/goldens/images/trained-models.py ../shared/data/vision        (numpy, pillow 13.0.0, opencv-python, onnxruntime)

astronaut.jpg is a part of NASA's portrait of Eileen Collins (public domain), made smaller from the picture of that name in scikit-image.
"""

import json
import pathlib
import sys

import cv2
import numpy
import onnxruntime
from PIL import Image

models = pathlib.Path(sys.argv[1])
folder = pathlib.Path(__file__).parents[3] / "test/fixtures/pictures"
picture = Image.open(folder / "astronaut.jpg").convert("RGB")
width, height = picture.size


def classify():
    session = onnxruntime.InferenceSession(str(models / "SqueezeNet_fp16.onnx"))
    short = min(width, height)
    samples = numpy.asarray(picture.resize((256 * width // short, 256 * height // short), Image.Resampling.BILINEAR))
    top, left = (samples.shape[0] - 224) // 2, (samples.shape[1] - 224) // 2
    values = samples[top : top + 224, left : left + 224].astype(numpy.float32) / 255
    values = (values - numpy.float32([0.485, 0.456, 0.406])) / numpy.float32([0.229, 0.224, 0.225])
    (scores,) = session.run(None, {"data_0": values.transpose(2, 0, 1)[None].astype(numpy.float16)})
    scores = scores.reshape(-1).astype(numpy.float32)
    return [{"label": int(index), "score": float(scores[index])} for index in numpy.argsort(-scores, kind="stable")[:5]]


def priors():
    boxes = []
    for stride, sides in ((8, (10, 16, 24)), (16, (32, 48)), (32, (64, 96)), (64, (128, 192, 256))):
        for row in range(-(-240 // stride)):
            for column in range(-(-320 // stride)):
                boxes += [((column + 0.5) * stride / 320, (row + 0.5) * stride / 240, side / 320, side / 240) for side in sides]
    return numpy.clip(numpy.array(boxes), 0, 1)


def detect():
    session = onnxruntime.InferenceSession(str(models / "version-RFB-320_simplified.onnx"))
    values = (cv2.resize(numpy.asarray(picture), (320, 240)).astype(numpy.float32) - 127) / 128
    scores, offsets = session.run(None, {"input": values.transpose(2, 0, 1)[None]})
    anchors = priors()
    centres = offsets[0, :, :2] * 0.1 * anchors[:, 2:] + anchors[:, :2]
    sizes = numpy.exp(offsets[0, :, 2:] * 0.2) * anchors[:, 2:]
    corners = numpy.concatenate([centres - sizes / 2, centres + sizes / 2], 1) * [width, height, width, height]
    wanted = scores[0, :, 1] > 0.7
    rectangles = numpy.concatenate([corners[wanted][:, :2], (corners[wanted][:, 2:] - corners[wanted][:, :2])], 1)
    kept = cv2.dnn.NMSBoxes(rectangles.tolist(), scores[0, wanted, 1].tolist(), 0.7, 0.3)
    return [{"score": float(scores[0, wanted, 1][index]), "box": corners[wanted][index].tolist()} for index in kept]


(folder / "goldens.json").write_text(json.dumps({"squeezenet": classify(), "rfb": detect()}, indent=2) + "\n")
