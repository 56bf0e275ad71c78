"""Writes src/processors/images/process-goldens.json: pixel values of transformers' image processors for small pictures.

python scripts/goldens/images/process-pictures.py        (numpy, pillow 13.0.0, transformers 5.24.0 without torch)
"""

import base64
import json
import pathlib
import sys

import numpy
import transformers
from PIL import Image

target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[3] / "src/processors/images/process-goldens.json")
factor = int(sys.argv[2]) if len(sys.argv) > 2 else 1
random = numpy.random.default_rng(11)


def make(width, height):
    rows, columns = numpy.mgrid[0:height, 0:width]
    ramps = numpy.stack([columns * 255 // width, rows * 255 // height, (columns * rows) % 256], -1)
    return numpy.clip(ramps + random.integers(-60, 60, ramps.shape), 0, 255).astype(numpy.uint8)


sizes = [(23, 17), (14, 31), (7, 9)] if factor == 1 else [(640, 480), (333, 500), (97, 1024), (225, 224), (50, 60)]
pictures = [make(width, height) for width, height in sizes]

half = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4]}
s = lambda n: n * factor
configurations = [
    {"image_processor_type": "ViTImageProcessor", "size": {"height": s(6), "width": s(8)}},
    {"feature_extractor_type": "ViTFeatureExtractor", "size": s(6), "do_normalize": True, "do_resize": True, "resample": 2, **half},
    {"image_processor_type": "ViTImageProcessor", "size": {"height": s(6), "width": s(8)}, "do_rescale": False, **half},
    {"image_processor_type": "ViTImageProcessor", "size": {"height": s(6), "width": s(8)}, "do_normalize": False, "resample": 1},
    {"image_processor_type": "ViTImageProcessor", "size": {"height": s(6), "width": s(8)}, "resample": 0, "rescale_factor": 0.0078},
    {"image_processor_type": "ViTImageProcessor", "size": {"height": s(6), "width": s(8)}, "resample": 4},
    {"image_processor_type": "ViTImageProcessor", "size": {"height": s(6), "width": s(8)}, "resample": 5},
    {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": s(6)}, "crop_size": {"height": s(6), "width": s(6)}},
    {"feature_extractor_type": "CLIPFeatureExtractor", "size": s(7), "crop_size": s(5), "resample": 3, "do_center_crop": True},
    {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": s(4)}, "crop_size": {"height": s(7), "width": s(6)}},
    {"image_processor_type": "CLIPImageProcessor", "size": {"height": s(6), "width": s(7)}, "do_center_crop": False},
    {"image_processor_type": "CLIPImageProcessor", "do_resize": False, "crop_size": {"height": s(10), "width": s(11)}},
    {"image_processor_type": "SiglipImageProcessor", "size": {"height": s(6), "width": s(6)}, **half},
    {"image_processor_type": "DeiTImageProcessor", "size": s(8), "crop_size": s(7)},
    {"image_processor_type": "BeitImageProcessor", "size": s(7), "do_center_crop": False},
    {"image_processor_type": "BlipImageProcessor", "size": {"height": s(6), "width": s(6)}},
    {"image_processor_type": "PvtImageProcessor", "size": {"height": s(6), "width": s(6)}},
    {"image_processor_type": "SegformerImageProcessor", "size": {"height": s(6), "width": s(6)}},
    {"image_processor_type": "BitImageProcessor", "size": {"shortest_edge": s(8)}, "crop_size": {"height": s(6), "width": s(6)}},
    {"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": s(7)}, "crop_pct": 0.875},
    {"feature_extractor_type": "ConvNextFeatureExtractor", "size": s(6), "crop_pct": 0.8},
    {"image_processor_type": "LevitImageProcessor", "size": {"shortest_edge": s(7)}, "crop_size": {"height": s(7), "width": s(7)}},
    {"image_processor_type": "MobileNetV1ImageProcessor", "size": {"shortest_edge": s(8)}, "crop_size": {"height": s(7), "width": s(7)}},
    {"image_processor_type": "MobileNetV2ImageProcessor", "size": {"shortest_edge": s(8)}, "crop_size": {"height": s(7), "width": s(7)}},
    {"image_processor_type": "MobileViTImageProcessor", "size": {"shortest_edge": s(8)}, "crop_size": {"height": s(7), "width": s(7)}},
    {"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": s(8), "longest_edge": s(13)}},
    {"feature_extractor_type": "DetrFeatureExtractor", "size": s(9), "max_size": s(14)},
    {"image_processor_type": "DetrImageProcessor", "size": {"max_height": s(9), "max_width": s(12)}, "do_pad": True},
    {"image_processor_type": "DetrImageProcessor", "size": {"height": s(9), "width": s(12)}, "pad_size": {"height": s(10), "width": s(13)}},
    {"image_processor_type": "RTDetrImageProcessor", "size": {"height": s(6), "width": s(6)}},
    {"image_processor_type": "YolosImageProcessor", "size": {"shortest_edge": 20 * factor, "longest_edge": 40 * factor}},
    {"image_processor_type": "DonutImageProcessor", "size": {"height": s(12), "width": s(9)}},
    {"feature_extractor_type": "DonutFeatureExtractor", "size": [s(9), s(12)], "do_align_long_axis": True},
    {"image_processor_type": "DonutImageProcessor", "size": {"height": s(8), "width": s(14)}, "do_align_long_axis": True, "do_thumbnail": True},
    {"image_processor_type": "ViltImageProcessor", "size": {"shortest_edge": s(8)}, "size_divisor": 4},
    {"image_processor_type": "GLPNImageProcessor", "size_divisor": 4},
]


def run(configuration, batch):
    name = configuration.get("image_processor_type") or configuration["feature_extractor_type"].replace("FeatureExtractor", "ImageProcessor")
    processor = getattr(transformers, name + "Pil").from_dict(dict(configuration))
    return processor([Image.fromarray(picture) for picture in batch], return_tensors="np")


def is_batch(configuration):
    name = str(configuration)
    return any(part in name for part in ("Detr", "Yolos", "Vilt")) and "RTDetr" not in name


encode = lambda array: base64.b64encode(numpy.ascontiguousarray(array).tobytes()).decode()
goldens = []
for configuration in configurations:
    batches = [pictures] if is_batch(configuration) else [[picture] for picture in (pictures if factor > 1 else pictures[:2])]
    for batch in batches:
        result = run(configuration, batch)
        values = numpy.asarray(result["pixel_values"])
        golden = {
            "configuration": configuration,
            "pictures": [next(i for i, p in enumerate(pictures) if p is picture) for picture in batch],
            "shape": list(values.shape),
            "type": str(values.dtype),
            "values": encode(values.astype(numpy.float32)),
        }
        if "pixel_mask" in result:
            golden["mask"] = encode(numpy.asarray(result["pixel_mask"]).astype(numpy.uint8))
        goldens.append(golden)
target.write_text(
    json.dumps({"pictures": [{"width": p.shape[1], "height": p.shape[0], "data": encode(p)} for p in pictures], "goldens": goldens}, indent=0) + "\n"
)
