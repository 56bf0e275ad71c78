/** Check cases of matrix products in float32 and int32, and of quantization. */
import type { Activation } from "../../../ir/operations.ts";
import { elements } from "../case-text.ts";

const activations: readonly Exclude<Activation, "none">[] = ["relu", "gelu", "gelu-tanh", "tanh", "sigmoid", "silu"];

/** Linear layers of one row, which has code of its own, and of several, with each number of panels of columns, activation and residual. */
const linears = [
  ...[5, 21, 24, 29, 32].map((columns) => `matmul ~ linear(float32[1,37], constant float32[37,${columns}]#2)`),
  ...[2, 13].flatMap((rows) =>
    [21, 41].map((columns) => `matmul ~ linear(special float32[${rows},37], constant float32[37,${columns}]#2)`),
  ),
  ...activations.flatMap((name) => [
    `matmul ${name} ~ linear(float32[1,37], constant float32[37,21]#2, float32[21]#3) bias=true activation=${name}`,
    `matmul ${name} ~ linear(special float32[5,37], constant float32[37,21]#2, float32[21]#3) bias=true activation=${name}`,
  ]),
];

/** Among them one with more rows than a block of the cache. */
const moreLinears = `
matmul ~ linear(float32[1,64], constant float32[64,45]#2, float32[45]#3, float32[1,45]#5) bias=true residual=before-activation
matmul ~ linear(special float32[2100,64], constant float32[64,1]#2)
matmul ~ linear(special float32[8,1], constant float32[1,40]#2)
matmul ~ linear(special float32[6,64], constant float32[64,16]#2)
matmul ~ linear(special float32[18,5], constant float32[5,7]#2, float32[7]#3) bias=true
matmul ~ linear(float32[1,3], constant float32[3,77]#2, float32[77]#3, float32[1,77]#5) bias=true residual=after-activation
matmul ~ linear(special float32[3,37], constant float32[37,21]#2, float32[21]#3, float32[3,21]#5) bias=true residual=before-activation
matmul ~ linear(special float32[5,37], constant float32[37,21]#2, float32[21]#3, float32[5,21]#5) bias=true residual=after-activation
matmul ~ linear(float32[2,3,11], constant float32[11,10]#2, float32[10]#3, float32[2,3,10]#5) bias=true residual=after-activation
declined matmul = linear(float64[2,3,4], constant float64[4,5]#2)
declined matmul = linear(float32[2,3], float32[3,4]#2)`;

/** Products of two computed matrices, permuted and broadcast, with rows enough to copy panels; once neither rows nor columns of B are contiguous. */
const batched = `
batched-matmul ~ matmul(special float32[2,1,7,11], float32[1,3,11,6]#2)
batched-matmul = matmul(int32[3,5,7], int32[7,9]#2)
batched-matmul ~ fused-matmul(special float32[1,2,9,8], float32[1,2,7,8]#2) b=[0,1,3,2] result=[0,2,1,3] alpha=0.125
batched-matmul ~ fused-matmul(special float32[1,2,6,5], float32[1,2,6,19]#2) a=[0,1,3,2] alpha=2
batched-matmul ~ fused-matmul(float32[1,2,3,9], float32[1,2,10,9]#2) b=[0,1,3,2] alpha=0.25
batched-matmul ~ fused-matmul(float32[2,2,19,6], float32[2,2,21,6]#2) b=[0,1,3,2] result=[0,2,1,3]
batched-matmul ~ fused-matmul(float32[2,3,4,8], float32[2,3,8,8]#2) b=[0,1,3,2]
batched-matmul ~ fused-matmul(float32[2,5,3,7], float32[2,6,3,7]#2) a=[0,2,1,3] b=[0,2,3,1] alpha=0.5
batched-matmul ~ fused-matmul(float32[2,3,4,5], float32[5,11,2,3]#2) b=[2,3,0,1]
batched-matmul ~ fused-matmul(float32[3,2,4,5], float32[2,3,6,5]#2) a=[1,0,2,3] b=[0,1,3,2]
batched-matmul ~ fused-matmul(float32[3,2,4,5], float32[1,3,6,5]#2) a=[1,0,2,3] b=[0,1,3,2] result=[0,2,1,3]
batched-matmul ~ fused-matmul(float32[3,2,4,5], float32[2,3,1,5]#2) a=[1,0,2,3] b=[0,1,3,2] result=[0,1,3,2]
batched-matmul ~ matmul(float32[2,0], float32[0,3]#2)
batched-matmul ~ matmul(float32[2,1,18,5], float32[1,3,5,17]#2)
batched-matmul ~ matmul(float32[2,2,1,9], float32[2,2,9,45]#2)
batched-matmul ~ matmul(float32[3,2,6], float32[3,6,37]#2)
batched-matmul ~ matmul(float32[2,4,3], float32[2,3,16]#2)
batched-matmul ~ matmul(float32[2,5,1], float32[2,1,3]#2)
batched-matmul = matmul(int32[2,17,6], int32[1,6,5]#2)
batched-matmul = matmul(int32[2,1,6], int32[2,6,35]#2)
batched-matmul ~ matmul(float32[2,3,4,5], float32[5,6]#2)
batched-matmul ~ matmul(float32[4,5], float32[2,3,5,6]#2)
batched-matmul ~ matmul(float32[3,1,4,5], float32[2,5,6]#2)
batched-matmul = matmul(int32[2,3,5], int32[2,5,1]#2)
declined batched-matmul = matmul(float64[2,3,4], float64[2,4,3]#2)
declined batched-matmul = fused-matmul(int32[3,4], int32[4,2]) alpha=3
declined batched-matmul = fused-matmul(float32[3,4], float32[4,2]) result=[1,0]`;

/** Few rows with columns that are contiguous, and with columns that are not: the scores and the values of one query. */
const fewRows = [1, 2].flatMap((rows) =>
  [4, 11].flatMap((depth) => [
    `batched-matmul ~ fused-matmul(float32[1,2,${rows},${depth}], float32[1,2,7,${depth}]#2) b=[0,1,3,2] alpha=0.5`,
    `batched-matmul ~ matmul(float32[1,2,${rows},${depth}], float32[1,2,${depth},21]#2)`,
  ]),
);

const zeros = elements(Array<number>(9).fill(0));

/** Dynamic quantization of activations: rows of each length, values that are clamped, and ranges on one side of 0. */
const quantizations = `
${[19, 17, 16, 18, 2].map((columns) => `quantization-range ~ quantization-range(float32[3,${columns}])`).join("\n")}
quantization-range ~ quantization-range(float32[6] = [3, 2.5, 7, 9.25, 4, 5])
quantization-range ~ quantization-range(float32[5] = [-3, -2.5, -7, -9.25, -4])
quantization-range ~ quantization-range(float32[9] = ${zeros})
quantization-range ~ quantization-range(special float32[2,9])
quantize = quantize(float32[2,3,6], float32[] = [0.037], uint8[] = [117])
quantize = quantize(float32[3,18], float32[] = [0.037], uint8[] = [117])
quantize = quantize(float32[2,20], float32[] = [0.004], uint8[] = [200])
quantize = quantize(float32[3,2], float32[] = [0.3], uint8[] = [0])
subtract-zero-point = subtract-zero-point(uint8[3,18], uint8[] = [117])
subtract-zero-point = subtract-zero-point(uint8[2,16])
subtract-zero-point = subtract-zero-point(int8[2,3,4])
subtract-zero-point = subtract-zero-point(int8[3,18])
subtract-zero-point = subtract-zero-point(int8[2,22], int8[] = [-5])
declined subtract-zero-point = subtract-zero-point(uint8[3,5], uint8[] = [7])
declined quantize = quantize(float32[3,5], float32[] = [0.05], uint8[] = [7])
declined quantization-range = quantization-range(float64[3,5])
declined integer-matmul = integer-matmul(int16[3,4], int32[4,5])
declined integer-matmul = integer-matmul(int16[3,5], constant int32[5,4])
declined integer-matmul = integer-matmul(int16[3,2], constant int32[2,2] = [-200, 1, 2, 200])
declined integer-matmul = integer-matmul(int16[3,2], constant int32[2,2] = [-300, 0, -256, -60])
declined integer-matmul = integer-matmul(int16[3,2], constant int32[2,2] = [-100, 0, 156, -60])
integer-matmul = integer-matmul(int16[3,2], constant int32[2,2] = [-255, 0, -3, -60])`;

/** All check cases of matrix products. */
export const matmulCases: string = [...linears, moreLinears, batched, ...fewRows, quantizations].join("\n");
