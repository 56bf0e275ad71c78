"""Writes src/processors/images/decode-goldens.json: small pictures of many kinds as Pillow encodes and decodes them.

python scripts/goldens/images/decode-pictures.py        (numpy, pillow 13.0.0)
"""

import base64
import io
import json
import pathlib

import numpy
from PIL import Image, ImageOps

target = pathlib.Path(__file__).parents[3] / "src/processors/images/decode-goldens.json"
random = numpy.random.default_rng(3)
height, width = 9, 13
rows, columns = numpy.mgrid[0:height, 0:width]
ramps = numpy.stack([columns * 255 // width, rows * 255 // height, (columns + rows) * 255 // (width + height)], -1)
rgb = numpy.clip(ramps + random.integers(-20, 20, ramps.shape), 0, 255).astype(numpy.uint8)
alpha = ((columns * 31 + rows) % 256).astype(numpy.uint8)
colour = Image.fromarray(rgb)
transparent = Image.fromarray(numpy.dstack([rgb, alpha]))
deep = Image.fromarray(((columns * 1000 + rows * 77) % 65536).astype(numpy.uint16))


def exif(orientation):
    tags = Image.Exif()
    tags[0x112] = orientation
    return tags


pictures = {
    "colour.png": (colour, "PNG", {}),
    "alpha.png": (transparent, "PNG", {}),
    "grey.png": (colour.convert("L"), "PNG", {}),
    "grey-alpha.png": (transparent.convert("LA"), "PNG", {}),
    "one-bit.png": (colour.convert("1"), "PNG", {}),
    "palette.png": (colour.quantize(64), "PNG", {}),
    "palette-transparent.png": (colour.quantize(16), "PNG", {"transparency": 3}),
    "deep-grey.png": (deep, "PNG", {}),
    "jpeg-444.jpg": (colour, "JPEG", {"quality": 95, "subsampling": 0}),
    "jpeg-420.jpg": (colour, "JPEG", {"quality": 75, "subsampling": 2}),
    "progressive.jpg": (colour, "JPEG", {"quality": 80, "progressive": True}),
    "grey.jpg": (colour.convert("L"), "JPEG", {}),
    "cmyk.jpg": (colour.convert("CMYK"), "JPEG", {}),
    "cmyk.tif": (colour.convert("CMYK"), "TIFF", {"compression": "tiff_lzw"}),
    "colour.tif": (colour, "TIFF", {}),
    "one-bit.tif": (colour.convert("1"), "TIFF", {"compression": "group4"}),
    "lossless.webp": (colour, "WEBP", {"lossless": True}),
    "alpha.webp": (transparent, "WEBP", {"lossless": True, "exact": True}),
    "lossy.webp": (colour, "WEBP", {"quality": 80}),
    "colour.gif": (colour.quantize(64), "GIF", {}),
    "transparent.gif": (colour.quantize(64), "GIF", {"transparency": 5}),
    "frames.gif": (colour.quantize(64), "GIF", {"save_all": True, "append_images": [colour.rotate(180).quantize(64)]}),
    "colour.avif": (colour, "AVIF", {"quality": 90, "subsampling": "4:4:4"}),
    **{f"orientation-{k}.jpg": (colour, "JPEG", {"quality": 92, "exif": exif(k)}) for k in range(1, 9)},
    "orientation-6.png": (colour, "PNG", {"exif": exif(6)}),
}


def encode(samples):
    return base64.b64encode(numpy.ascontiguousarray(samples).tobytes()).decode()


goldens = []
for name, (picture, kind, options) in pictures.items():
    file = io.BytesIO()
    picture.save(file, kind, **options)
    read = ImageOps.exif_transpose(Image.open(io.BytesIO(file.getvalue())))
    # Pillow converts 16-bit grey by clipping at 255; OpenCV, as most programs, keeps the upper 8 bits.
    shown = Image.fromarray((numpy.asarray(read) >> 8).astype(numpy.uint8)) if read.mode == "I;16" else read
    white = Image.new("RGBA", shown.size, (255, 255, 255, 255))
    goldens.append(
        {
            "name": name,
            "width": shown.width,
            "height": shown.height,
            "file": base64.b64encode(file.getvalue()).decode(),
            "rgb": encode(shown.convert("RGB")),
            "overWhite": encode(Image.alpha_composite(white, shown.convert("RGBA")).convert("RGB")),
            "rgba": encode(shown.convert("RGBA")),
            "grey": encode(shown.convert("L")),
        }
    )
target.write_text(json.dumps(goldens, indent=0) + "\n")
