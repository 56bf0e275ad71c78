"""What the steps of rapidocr 3.10.0 compute on small inputs, without its networks: rapidocr-steps.py OUT
src/tasks/reading/reading-goldens.json is its output with opencv-python-headless 5.0.0.93, numpy 2.4.6, pyclipper 1.4.0, shapely 2.2.0."""
import base64
import json
import sys

import cv2
import numpy as np
from rapidocr.cal_rec_boxes.main import CalRecBoxes
from rapidocr.ch_ppocr_cls.main import TextClassifier
from rapidocr.ch_ppocr_det.main import TextDetector
from rapidocr.ch_ppocr_det.utils import DBPostProcess, DetPreProcess
from rapidocr.ch_ppocr_rec.main import TextRecognizer
from rapidocr.ch_ppocr_rec.typings import TextRecOutput
from rapidocr.ch_ppocr_rec.utils import CTCLabelDecode
from rapidocr.utils.load_image import LoadImage
from rapidocr.utils.process_img import (
    apply_vertical_padding,
    get_rotate_crop_image,
    map_boxes_to_original,
    resize_image_within_bounds,
)

rng = np.random.default_rng(5)
b64 = lambda values: base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
rgb = lambda picture: b64(picture[:, :, ::-1])  # rapidocr has blue, green, red
goldens = {}


def picture(width, height):
    steps = rng.integers(-30, 31, (height, width, 3))
    return np.clip(np.cumsum(steps, 1) + 128, 0, 255).astype(np.uint8)


def fitted(width, height, keep):
    page = picture(width, height)
    image, ratio_h, ratio_w = resize_image_within_bounds(page, 30, 2000)
    record = {"preprocess": {"ratio_h": ratio_h, "ratio_w": ratio_w}}
    image, record = apply_vertical_padding(image, record, 8, 30)
    corners = np.array([[[0, 0], [image.shape[1] - 1, 3], [17, image.shape[0] // 2], [5, image.shape[0]]]], dtype=np.float32)
    mapped = map_boxes_to_original(corners.copy(), record, height, width)
    row = {"page": [width, height], "size": [image.shape[1], image.shape[0]], "points": corners[0].tolist(), "mapped": mapped[0].tolist()}
    return {**row, "data": rgb(page), "fitted": rgb(image)} if keep else row


goldens["fit"] = [fitted(*size, size[0] * size[1] < 2000) for size in [(40, 20), (90, 10), (12, 50), (2400, 1300), (900, 2100), (640, 40), (800, 420)]]

page = picture(31, 23)
tensor = DetPreProcess()(page)
places = rng.integers(0, tensor.size, 40)
goldens["detector"] = {"page": [31, 23], "data": rgb(page), "shape": list(tensor.shape), "places": places.tolist(), "values": tensor.reshape(-1)[places].tolist(), "sum": float(tensor.astype(np.float64).sum())}


def probabilities(width, height):
    drawn = np.zeros((height, width), np.float32)
    for _ in range(int(rng.integers(2, 6))):
        centre = (float(rng.integers(10, width)), float(rng.integers(5, height)))
        box = cv2.boxPoints((centre, (float(rng.integers(8, width // 2)), float(rng.integers(3, 12))), float(rng.uniform(-20, 20))))
        cv2.fillPoly(drawn, [box.astype(np.int32)], float(rng.uniform(0.35, 1)))
    return np.clip(cv2.GaussianBlur(drawn, (5, 5), 0), 0, 1)


goldens["regions"] = []
for _ in range(5):
    width, height = int(rng.integers(50, 90)), int(rng.integers(30, 50))
    quantized = np.round(probabilities(width, height) * 255).astype(np.uint8)
    page_size = (int(width * rng.uniform(0.4, 2)), int(height * rng.uniform(0.4, 2)))
    boxes, _ = DBPostProcess(0.3, 0.5, 1000, 1.6, "fast", True)((quantized.astype(np.float32) / np.float32(255))[None, None], (page_size[1], page_size[0]))
    ordered = TextDetector.sorted_boxes(boxes) if len(boxes) else boxes
    goldens["regions"].append({"size": [width, height], "map": b64(quantized), "page": list(page_size), "boxes": np.array(boxes).tolist(), "sorted": np.array(ordered).tolist()})

crops = []
for box in ([[4, 3], [40, 5], [39, 16], [3, 14]], [[10, 2], [18, 2], [18, 34], [10, 34]], [[0, 0], [49, 0], [49, 9], [0, 9]]):
    page = picture(50, 36)
    line = get_rotate_crop_image(page, np.array(box, np.float32))
    crops.append({"page": [50, 36], "data": rgb(page), "box": box, "size": [line.shape[1], line.shape[0]], "line": rgb(line)})
goldens["crops"] = crops

recognizer = TextRecognizer.__new__(TextRecognizer)
recognizer.rec_image_shape = [3, 48, 320]
classifier = TextClassifier.__new__(TextClassifier)
classifier.cls_image_shape = [3, 48, 192]
goldens["lines"] = []
for width, height, ratio in [(21, 9, 320 / 48), (60, 7, 60 / 7), (30, 4, 12.5)]:
    line = picture(width, height)
    row = {"size": [width, height], "data": rgb(line)}
    for name, tensor in (("recognizer", recognizer.resize_norm_img(line, ratio)), ("classifier", classifier.resize_norm_img(line))):
        places = rng.integers(0, tensor.size, 30)
        row[name] = {"shape": list(tensor.shape), "places": places.tolist(), "values": tensor.reshape(-1)[places].tolist(), "sum": float(tensor.astype(np.float64).sum())}
    goldens["lines"].append(row)

dictionary = list("abcdefg-.") + ["中", "文", "，"]
goldens["ctc"] = []
for text in ["ab cd-e.", "a中文b，c", "", "gg  ff", "中 文文"]:
    steps, classes = 40, len(dictionary) + 2
    logits = rng.normal(0, 1, (1, steps, classes)).astype(np.float32)
    logits[:, :, 0] += 6
    step = int(rng.integers(0, 4))
    for character in text:
        index = classes - 1 if character == " " else dictionary.index(character) + 1
        for _ in range(int(rng.integers(1, 3))):
            logits[0, step, index] += 11
            step += 1
        step += int(rng.integers(1, 3)) + (4 if character == "-" else 0)
    output = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    box = np.array([[13, 8], [113, 11], [112, 31], [12, 28]], np.float32)
    width, height = 100, 20
    decoder = CTCLabelDecode(character=list(dictionary))
    lines, words = decoder(output, True, wh_ratio_list=[width / height], max_wh_ratio=320 / 48)
    result = TextRecOutput(txts=(lines[0][0],), word_results=(words[0],))
    placed = CalRecBoxes()([np.zeros((height, width, 3), np.uint8)], box[None].copy(), result).word_results[0] if lines[0][0] else []
    goldens["ctc"].append({"shape": list(output.shape), "output": b64(output), "text": lines[0][0], "score": lines[0][1], "box": box.tolist(), "size": [width, height], "words": [{"text": w, "box": np.array(b).tolist()} for w, _, b in placed]})
goldens["dictionary"] = dictionary

goldens["colours"] = []
for opacity in (0, 40, 255):
    dark = np.concatenate([rng.integers(0, 90, (3, 4, 3)), rng.integers(0, opacity + 1, (3, 4, 1))], 2).astype(np.uint8)
    for page in (dark, np.concatenate([255 - dark[:, :, :3], dark[:, :, 3:]], 2)):
        goldens["colours"].append({"size": [4, 3], "data": b64(page), "opaque": rgb(LoadImage().cvt_four_to_three(page))})

json.dump(goldens, open(sys.argv[1], "w"), ensure_ascii=False)
print({name: len(rows) for name, rows in goldens.items()})
