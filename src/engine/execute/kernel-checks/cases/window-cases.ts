/** Check cases of convolutions and pooling. */
import type { Activation } from "../../../ir/operations.ts";

const activations: readonly Exclude<Activation, "none">[] = ["relu", "gelu", "gelu-tanh", "tanh", "sigmoid", "silu"];

/** Windows with different strides, dilations and pads of each axis and side, planes narrower than a vector, and windows too large to unroll. */
const convolutions = `
conv2d ~ convolution(special float32[1,3,7,9], float32[5,3,3,3]#2, float32[5]#3) pads=[1,1,1,1]
conv2d ~ convolution(special float32[2,6,5,5], float32[9,6,1,1]#2, float32[9]#3)
conv2d ~ convolution(special float32[1,4,9,7], float32[6,2,3,3]#2, float32[6]#3) groups=2 strides=[2,2] dilations=[1,2] pads=[1,1,1,1]
conv2d ~ convolution(special float32[1,2,4,5,6], float32[3,2,2,3,3]#2, float32[3]#3) pads=[1,1,1,1,1,1]
conv2d ~ convolution(special float32[1,3,11], float32[4,3,5]#2, float32[4]#3) pads=[1,1]
conv2d = convolution(int32[1,2,5,6], int32[3,2,3,3]#2, int32[3]#3) pads=[1,1,1,1]
conv2d ~ convolution(float32[2,4,11], float32[6,2,3]#2) groups=2 strides=[2] dilations=[3] pads=[1,2]
conv2d ~ convolution(float32[2,3,6,7], float32[4,3,2,3]#2, float32[4]#3) strides=[1,2] dilations=[2,1] pads=[2,0,1,3]
conv2d = convolution(int32[1,4,6,7], int32[2,2,3,2]#2) groups=2 strides=[1,2] dilations=[2,1] pads=[2,0,1,3]
conv2d ~ convolution(float32[2,2,4,5,6], float32[4,1,2,2,3]#2) groups=2 strides=[2,1,2] dilations=[1,2,1] pads=[1,0,2,0,1,1]
conv2d ~ convolution(float32[1,2,3,5,4], float32[3,2,2,1,2]#2, float32[3]#3) strides=[2,1,2] dilations=[1,2,1] pads=[1,0,2,0,1,1]
conv2d ~ convolution(float32[2,4,7,12], float32[6,2,2,3]#2, float32[6]#3) groups=2 pads=[1,0,2,3]
conv2d ~ convolution(float32[1,3,9,19], float32[5,3,3,2]#2) strides=[1,2] dilations=[2,1] pads=[0,1,1,0]
conv2d ~ convolution(float32[2,3,6,3], float32[2,3,2,2]#2) pads=[0,1,1,1]
conv2d ~ convolution(float32[1,2,8,10], float32[2,2,9,8]#2) pads=[2,1,1,2]
conv2d ~ convolution(float32[1,2,13,29], float32[3,2,2,3]#2) strides=[2,3] pads=[1,1,0,0]
conv2d ~ convolution(float32[2,4,3,6], float32[8,2,1,1]#2) groups=2 strides=[1,2]
conv2d ~ convolution(float32[1,3,5,17], float32[4,3,1,5]#2) dilations=[1,3] pads=[0,6,0,6]
conv2d ~ convolution(float32[1,5,4,5], float32[3,5,1,1]#2)
conv2d ~ convolution(float32[2,2,7,5,6], float32[3,2,2,3,3]#2) strides=[2,1,1] dilations=[2,1,1] pads=[1,1,0,2,1,1]
conv2d ~ convolution(float32[1,4,5,4,9], float32[4,2,3,1,2]#2, float32[4]#3) groups=2 strides=[1,2,1]
conv2d = convolution(int32[2,4,5,11], int32[4,2,2,2]#2) groups=2 strides=[2,1]
depthwise ~ convolution(special float32[1,6,9,10], float32[6,1,3,3]#2, float32[6]#3) groups=6 pads=[1,1,1,1]
depthwise ~ convolution(special float32[1,5,9,11], float32[5,1,5,5]#2, float32[5]#3) groups=5 strides=[2,2] pads=[2,2,2,2]
depthwise ~ convolution(float32[2,3,7,21], float32[3,1,3,3]#2) groups=3 pads=[0,2,1,0]
depthwise ~ convolution(float32[1,3,12,9], float32[3,1,2,3]#2) groups=3 dilations=[3,2] strides=[1,2] pads=[1,1,2,2]
depthwise ~ convolution(float32[1,2,6,3], float32[2,1,2,2]#2) groups=2
depthwise ~ convolution(float32[1,2,8,10], float32[2,1,9,8]#2) groups=2 pads=[2,1,1,2]
depthwise ~ convolution(float32[2,3,23], float32[3,1,4]#2) groups=3 pads=[3,0]
depthwise = convolution(int32[1,3,5,9], int32[3,1,3,3]#2) groups=3 pads=[1,1,1,1]
conv2d ~ convolution(float32[1,3,4,61], float32[30,3,3,3]#2, float32[30]#3) pads=[1,1,1,1]
conv2d ~ convolution(float32[1,4,3,70], float32[40,4,1,1]#2, float32[40]#3)
conv2d ~ convolution(float32[1,3,5,75], float32[14,3,3,3]#2) strides=[2,2] pads=[1,1,0,1]
conv2d ~ convolution(float32[1,2,3,100], float32[27,2,1,5]#2) strides=[1,3] pads=[0,2,0,2]
conv2d ~ convolution(float32[2,6,3,53], float32[58,3,2,2]#2, float32[58]#3) groups=2 pads=[0,1,1,0]
conv2d ~ convolution(float32[1,3,4,61], constant float32[30,3,3,3]#2, float32[30]#3) pads=[1,1,1,1]
conv2d ~ convolution(special float32[2,5,7,7], constant float32[70,5,1,1]#2, float32[70]#3)
conv2d ~ convolution(float32[1,3,9,29], constant float32[17,3,3,3]#2) strides=[2,2] pads=[1,1,0,1]
conv2d ~ convolution(float32[1,2,3,100], constant float32[12,2,1,5]#2) strides=[1,3] dilations=[1,2] pads=[0,2,0,2]
conv2d ~ convolution(float32[2,6,13,13], constant float32[90,3,2,2]#2, float32[90]#3) groups=2 pads=[0,1,1,0]
depthwise ~ convolution(float32[1,2,7,150], float32[2,1,3,3]#2, float32[2]#3) groups=2 pads=[1,1,1,1]
depthwise ~ convolution(float32[1,2,9,155], float32[2,1,3,5]#2) groups=2 strides=[2,2] pads=[1,2,1,2]
declined conv2d = convolution(float64[1,2,4,5], float64[2,2,2,3]#2) pads=[0,1,1,0]
declined conv2d = convolution(int32[1,2,4,5], int32[2,2,2,3]#2) pads=[0,1,1,0] activation=relu`;

const activated = activations.flatMap((name) => [
  `conv2d ${name} ~ convolution(float32[1,3,5,6], float32[4,3,3,3]#2, float32[4]#3) pads=[1,1,1,1] activation=${name}`,
  `conv2d ${name} ~ convolution(float32[1,3,5,23], constant float32[18,3,3,3]#2, float32[18]#3) pads=[1,1,1,1] activation=${name}`,
  `depthwise ${name} ~ convolution(float32[1,4,5,6], float32[4,1,3,3]#2, float32[4]#3) groups=4 pads=[1,1,1,1] activation=${name}`,
]);

const transposed = `
interleave ~ convolution-transpose(float32[1,3,4,5], float32[3,2,3,3]#2, float32[2]#3) strides=[2,2] pads=[1,1,1,1]
interleave ~ convolution-transpose(float32[2,4,3,5], float32[4,2,3,4]#2, float32[4]#3) groups=2 strides=[2,3] pads=[1,0,0,2] outputPads=[1,2]
interleave ~ convolution-transpose(float32[1,2,7], float32[2,4,5]#2, float32[4]#3) strides=[3] pads=[1,2]
interleave ~ convolution-transpose(float32[1,3,5,4], float32[3,2,2,2]#2) strides=[2,2]
interleave ~ convolution-transpose(float32[1,2,3,4,5], float32[2,2,2,3,2]#2) strides=[2,1,2] pads=[0,1,0,1,1,1]
interleave ~ convolution-transpose(float32[1,2,5,9], float32[2,3,3,1]#2) strides=[2,1]
interleave ~ convolution-transpose(float32[1,2,3,21], float32[2,2,2,4]#2) strides=[1,2] pads=[0,1,0,0]
interleave ~ convolution-transpose(float32[1,2,3,21], float32[2,2,2,4]#2) strides=[1,3] pads=[0,1,0,0]
interleave ~ convolution-transpose(float32[1,2,3,21], float32[2,2,2,4]#2) strides=[1,4] pads=[0,1,0,0]
declined interleave = convolution-transpose(float64[1,2,4,5], float64[2,2,2,3]#2) pads=[0,1,1,0]`;

/** Transposed convolutions with constant weights, and in most shapes with computed ones: functions, x, weights, bias, attributes. */
const ofEachKind = [
  ["interleave, conv2d", "2,2,5", "2,3,4", 3, "strides=[3] pads=[2,1] outputPads=[2]"],
  ["interleave", "2,2,1", "2,3,1", 3, "strides=[2]"],
  ["interleave, conv2d", "1,4,4", "4,2,2", 4, "strides=[3] pads=[2,1] groups=2"],
  ["interleave, conv2d", "1,4,3,4", "4,3,3,4", 6, "strides=[2,3] dilations=[2,1] pads=[1,0,2,1] outputPads=[1,0] groups=2"],
  ["conv2d relu", "2,2,4,3", "2,2,2,5", 2, "strides=[2,3] dilations=[2,1] pads=[1,0,2,1] outputPads=[0,2]"],
  ["conv2d", "2,3,4,5", "3,2,3,2", 2, "dilations=[1,2] pads=[1,0,0,2]"],
  ["interleave, conv2d", "1,2,2,3,2", "2,2,3,2,3", 2, "strides=[2,1,2] dilations=[1,2,1] pads=[0,1,1,1,0,0] outputPads=[1,0,0]"],
  [
    "interleave, conv2d",
    "2,4,2,3,3",
    "4,1,2,2,2",
    2,
    "strides=[2,1,2] dilations=[1,2,1] pads=[0,1,1,1,0,0] outputPads=[0,0,1] groups=2",
  ],
  ["interleave, conv2d", "1,2,7,8", "2,2,3,3", 2, "strides=[2,1] pads=[4,3,3,4]"],
  ["interleave", "1,2,9,8", "2,2,3,2", 2, "pads=[4,3,3,4]"],
] as const;

const transposedOfEachKind = ofEachKind.flatMap(([names, x, weights, bias, attributes]) =>
  names.split(", ").flatMap((name) => {
    const activation = name === "conv2d relu" ? "relu" : "none";
    const start = `${name} ~ convolution-transpose(float32[${x}]`;
    const end = `) ${attributes} activation=${activation}`;
    const computed = `${start}, float32[${weights}]#2${attributes.includes("groups") ? `, float32[${bias}]#3` : ""}${end}`;
    const constant = `${start}, constant float32[${weights}]#2, constant float32[${bias}]#3${end}`;
    return names === "interleave" ? [constant] : [constant, computed];
  }),
);

/** Pools with each stride and dilation, of one to three axes, with windows that end outside. */
const pools = [
  ["2,2,5,23", "kernel=[2,3]"],
  ["1,2,9,13", "kernel=[3,2] strides=[1,2] dilations=[2,3] pads=[1,0,2,1]"],
  ["1,3,6,7", "kernel=[3,3] strides=[2,2] ceil=true pads=[0,1,0,1]"],
  ["2,3,17", "kernel=[4] strides=[3] pads=[2,1]"],
  ["1,2,3,4", "kernel=[3,4]"],
  ["1,2,7,150", "kernel=[3,3] strides=[2,2]"],
  ["1,2,5,75", "kernel=[3,3] pads=[1,1,1,1]"],
].flatMap(([shape, window]) => [
  `pool2d max = max-pool(float32[${shape}]) ${window}`,
  `pool2d average ~ average-pool(float32[${shape}]) ${window}`,
]);

const poolsOfEachKind = [
  ["2,3,10", "kernel=[3] strides=[2] pads=[1,2]"],
  ["1,2,5,6", "kernel=[2,3] strides=[2,1] dilations=[1,2] pads=[1,0,0,2]"],
  ["1,2,6,4", "kernel=[3,3] strides=[2,2]"],
  ["2,2,4,5,3", "kernel=[2,3,2] strides=[1,2,1] dilations=[2,1,1] pads=[1,1,0,1,0,1]"],
].flatMap(([shape, window]) =>
  [true, false].flatMap((flag) => [
    ...["float32", "uint8", "int8"].map((type) => `pool2d max = max-pool(${type}[${shape}]) ${window} ceil=${flag}`),
    ...[true, false].map(
      (ceil) => `pool2d average ~ average-pool(float32[${shape}]) ${window} ceil=${ceil} countPadding=${flag}`,
    ),
  ]),
);

const morePools = `
pool2d max = max-pool(float32[1,3,7,9]) kernel=[3,2] strides=[2,1] pads=[1,0,1,1]
pool2d average ~ average-pool(special float32[1,3,7,9]) kernel=[3,2] strides=[2,1] pads=[1,0,1,1]
pool2d average ~ average-pool(float32[1,2,6,5]) kernel=[3,2] strides=[2,1] pads=[1,0,1,1] countPadding=true
declined pool2d max = max-pool(float64[1,2,4,5]) kernel=[2,2] pads=[0,1,1,0]
declined pool2d average = average-pool(float64[1,2,4,5]) kernel=[2,2] pads=[0,1,1,0] countPadding=true`;

/** All check cases of convolutions, poolings and other windows. */
export const windowCases: string = [
  convolutions,
  ...activated,
  transposed,
  ...transposedOfEachKind,
  ...pools,
  ...poolsOfEachKind,
  morePools,
].join("\n");
