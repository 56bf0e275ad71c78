/** The image processors of transformers that are obeyed, with the values that each has where a configuration names none. */
import type { ResamplingFilter } from "./resampling-filters.ts";

/** Default values of a class, and what it does unlike the others. */
export interface ProcessorClass {
  readonly filter: ResamplingFilter;
  /** As in a configuration: a number, or an object of sides or edges. */
  readonly size?: unknown;
  readonly cropSize?: unknown;
  readonly cropPct?: number;
  /** Longest edge where the configuration has a size in the old form, a number, without `max_size`. */
  readonly maxSize?: number;
  readonly mean?: readonly number[];
  readonly std?: readonly number[];
  readonly doCenterCrop?: boolean;
  readonly doNormalize?: boolean;
  readonly doPad?: boolean;
  readonly doFlipChannelOrder?: boolean;
  /** What a size in the old form, a number, is: both sides, or the shorter edge. */
  readonly isSquare?: boolean;
  /** Multiple that both sides are cut to. */
  readonly sizeDivisor?: number;
  /** Steps of this class alone. */
  readonly special?: "convnext" | "donut" | "levit" | "vilt" | "yolos";
}

const standard = [0.5, 0.5, 0.5];
const imageNet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
const clip = { mean: [0.48145466, 0.4578275, 0.40821073], std: [0.26862954, 0.26130258, 0.27577711] };

const clipClass: ProcessorClass = {
  filter: "bicubic",
  size: { shortest_edge: 224 },
  cropSize: { height: 224, width: 224 },
  doCenterCrop: true,
  isSquare: false,
  ...clip,
};
const vitClass: ProcessorClass = { filter: "bilinear", size: { height: 224, width: 224 } };
const detrClass: ProcessorClass = {
  filter: "bilinear",
  size: { shortest_edge: 800, longest_edge: 1333 },
  maxSize: 1333,
  doPad: true,
  isSquare: false,
  ...imageNet,
};
const mobileNetClass: ProcessorClass = {
  filter: "bilinear",
  size: { shortest_edge: 256 },
  cropSize: { height: 224, width: 224 },
  doCenterCrop: true,
  isSquare: false,
};

/** Mean and deviation where neither class nor configuration name any. */
export const defaultNormalization: { readonly mean: readonly number[]; readonly std: readonly number[] } = {
  mean: standard,
  std: standard,
};

/** The classes by name, without the endings `ImageProcessor`, `ImageProcessorFast` and `FeatureExtractor`. */
export const processorClasses: Readonly<Record<string, ProcessorClass>> = {
  ViT: vitClass,
  CLIP: clipClass,
  ChineseCLIP: clipClass,
  Bit: clipClass,
  Siglip: { filter: "bicubic", size: { height: 224, width: 224 }, isSquare: false },
  DeiT: { filter: "bicubic", size: { height: 256, width: 256 }, cropSize: { height: 224, width: 224 }, doCenterCrop: true },
  Beit: { filter: "bicubic", size: { height: 224, width: 224 }, cropSize: { height: 224, width: 224 } },
  Blip: { filter: "bicubic", size: { height: 384, width: 384 }, ...clip },
  Pvt: { filter: "bicubic", size: { height: 224, width: 224 }, ...imageNet },
  Segformer: { filter: "bilinear", size: { height: 512, width: 512 }, ...imageNet },
  OwlViT: { filter: "bicubic", size: { height: 768, width: 768 }, cropSize: { height: 768, width: 768 }, ...clip },
  ConvNext: { filter: "bicubic", size: { shortest_edge: 384 }, cropPct: 224 / 256, isSquare: false, special: "convnext" },
  Levit: { ...clipClass, ...imageNet, special: "levit" },
  MobileNetV1: mobileNetClass,
  MobileNetV2: mobileNetClass,
  MobileViT: {
    filter: "bicubic",
    size: { shortest_edge: 224 },
    cropSize: { height: 256, width: 256 },
    doCenterCrop: true,
    doNormalize: false,
    doFlipChannelOrder: true,
    isSquare: false,
  },
  Detr: detrClass,
  ConditionalDetr: detrClass,
  DeformableDetr: detrClass,
  Yolos: { ...detrClass, special: "yolos" },
  RTDetr: { filter: "bilinear", size: { height: 640, width: 640 }, doNormalize: false, isSquare: false, ...imageNet },
  Donut: { filter: "bilinear", size: { height: 2560, width: 1920 }, doPad: true, special: "donut" },
  GLPN: { filter: "bilinear", doNormalize: false, sizeDivisor: 32 },
  Vilt: { filter: "bicubic", size: { shortest_edge: 384 }, doPad: true, isSquare: false, sizeDivisor: 32, special: "vilt" },
};

/** The class of models by `model_type` of config.json, for configurations that name no class. */
export const classesOfModels: Readonly<Record<string, string>> = {
  beit: "Beit",
  bit: "Bit",
  blip: "Blip",
  chinese_clip: "ChineseCLIP",
  clip: "CLIP",
  conditional_detr: "ConditionalDetr",
  convnext: "ConvNext",
  convnextv2: "ConvNext",
  deformable_detr: "DeformableDetr",
  deit: "DeiT",
  detr: "Detr",
  dinov2: "Bit",
  "donut-swin": "Donut",
  glpn: "GLPN",
  groupvit: "CLIP",
  levit: "Levit",
  mobilenet_v1: "MobileNetV1",
  mobilenet_v2: "MobileNetV2",
  mobilevit: "MobileViT",
  mobilevitv2: "MobileViT",
  owlvit: "OwlViT",
  pvt: "Pvt",
  resnet: "ConvNext",
  regnet: "ConvNext",
  rt_detr: "RTDetr",
  segformer: "Segformer",
  siglip: "Siglip",
  swin: "ViT",
  swinv2: "ViT",
  trocr: "ViT",
  vilt: "Vilt",
  vit: "ViT",
  vit_mae: "ViT",
  vit_msn: "ViT",
  yolos: "Yolos",
};
