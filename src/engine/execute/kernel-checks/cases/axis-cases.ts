/** Check cases of kernels that work along axes: reductions, scans, softmax and normalization. */
import { elements } from "../case-text.ts";
import { ordinary } from "../check-values.ts";

/** Element types of reductions and scans, with the relation of their results to the interpreter's. */
const numeric = [
  ["float32", "~"],
  ["int32", "="],
  ["int64", "="],
] as const;

const masked = elements([...Array<number>(8).fill(0.5), ...Array<number>(13).fill(-Infinity)]);

/** Rows of each length, masks that broadcast along each axis, and axes with elements after them. */
const softmaxes = `
softmax ~ softmax(special float32[3,19]) axis=1
softmax ~ softmax(float32[3,7], float32[3,7] = ${masked}) axis=1
softmax logarithm ~ softmax(special float32[3,19]) axis=1 logarithm=true
softmax-columns ~ softmax(special float32[5,9]) axis=0
softmax-columns logarithm ~ softmax(float32[5,9]) axis=0 logarithm=true
${[1, 2, 3, 8, 69].map((columns) => `softmax ~ softmax(float32[3,${columns}]) axis=1`).join("\n")}
softmax logarithm ~ softmax(float32[2,16]) axis=1 logarithm=true
softmax ~ softmax(float32[2,3,5,9], float32[2,1,1,9]#5) axis=3
softmax ~ softmax(float32[2,3,5,9], float32[1,3,5,9]#5) axis=3
softmax ~ softmax(float32[2,3,5,8], float32[3,1,1]#5) axis=3
softmax logarithm ~ softmax(float32[2,3,6], float32[3,6]#5) axis=2 logarithm=true
softmax ~ softmax(float32[2,3,75], float32[3,75]#5) axis=2
softmax logarithm ~ softmax(float32[2,3,75], float32[3,1]#5) axis=2 logarithm=true
softmax ~ softmax(float32[3,5,1]) axis=1
softmax-columns ~ softmax(float32[2,5,21]) axis=1
softmax-columns ~ softmax(float32[3,4,2,2]) axis=1
softmax-columns logarithm ~ softmax(float32[2,3,18]) axis=1 logarithm=true
softmax-columns ~ softmax(float32[3,4,5]) axis=1
softmax-columns ~ softmax(float32[3,4,2]) axis=1
softmax ~ softmax(float32[3,4,1]) axis=1
softmax ~ softmax(float32[3,4,5], float32[4,1]#2) axis=2
declined softmax = softmax(float64[2,3,4]) axis=2
declined softmax-columns = softmax(float64[2,3,4]) axis=1
declined softmax = softmax(float32[2,3,1], float32[3,1]#2) axis=1
declined softmax-columns = softmax(float32[2,3,4], float32[3,4]#2) axis=1`;

/** Rows of each length, over one axis and two, with and without scale and shift. */
const norms = `
norm ~ layer-norm(special float32[3,19], float32[19]#2, float32[19]#3) axis=1
norm ~ layer-norm(float32[2,19], float32[19]#2) axis=1
norm ~ layer-norm(float32[3,64], float32[64]#2, float32[64]#3) axis=1 epsilon=0.001
norm ~ layer-norm(float32[2,3]) axis=1 epsilon=0.001
norm ~ layer-norm(float32[2,3,6], float32[3,6]#2, float32[3,6]#3) axis=1 epsilon=0.001
norm ~ layer-norm(float32[4,1], float32[1]#2) axis=1 epsilon=0.001
norm ~ layer-norm(float32[1,33], float32[33]#2, float32[33]#3) axis=1 epsilon=0.001
norm ~ layer-norm(float32[2,103], float32[103]#2, float32[103]#3) axis=1 epsilon=0.001
norm ~ layer-norm(float32[3,4,5], float32[4,5]#2, float32[4,5]#3) axis=1 epsilon=0.01
norm ~ layer-norm(float32[3,4,5], float32[5]#2, float32[5]#3) axis=2 epsilon=0.01
norm ~ layer-norm(float32[2,7]) axis=1
norm ~ rms-norm(special float32[3,19], float32[19]#2) axis=1
norm ~ rms-norm(float32[3,64], float32[64]#2) axis=1 epsilon=0.001
norm ~ rms-norm(float32[2,3,35]) axis=2
norm ~ rms-norm(float32[4,1], float32[1]#2) axis=1
declined norm = layer-norm(float64[2,3,4], float64[4]#2) axis=2 epsilon=0.01
declined norm = layer-norm(float32[2,3,4], float32[3,1]#2) axis=2 epsilon=0.01`;

/** Special values for floats, ordinary ones for integers, whose sums must not overflow. */
const special = (type: string): string => (type === "float32" ? "special float32" : type);

const reductions = numeric.flatMap(([type, relation]) =>
  ["sum", "product", "min", "max", ...(type === "float32" ? ["mean"] : [])].flatMap((name) => {
    const start = `${type === "int64" ? "reduce-wide" : "reduce"} ${name} ${type} ${relation}`;
    const more = [
      `${start} reduce(${type}[2,3,4,5]) function=sum axes=[1] keep=true`,
      `${start} reduce(${type}[2,3,4,5]) function=sum axes=[1,2]`,
      `${start} reduce(${type}[2,3,4,5]) function=sum axes=[0,2]`,
      `${start} reduce(${type}[2,3,4,5]) function=sum axes=[3,1] keep=true`,
    ];
    return [
      `${start} reduce(${special(type)}[5,9]) function=${name} axes=[0]`,
      `${start} reduce(${special(type)}[5,9]) function=${name} axes=[1]`,
      `${start} reduce(${type}[2,5,21]) function=${name} axes=[1]`,
      `${start} reduce(${type}[4,3,5]) function=${name} axes=[0,2]`,
      `${start} reduce(${type}[3,2,18]) function=${name} axes=[1,2]`,
      ...(name === "sum" ? more : []),
    ];
  }),
);

const moreReductions = `
reduce sum float32 ~ reduce(float32[2,3,4,5]) function=sum axes=[0,1,2,3]
reduce sum float32 = reduce(float32[3,1]) function=sum axes=[1]
declined reduce sum float32 = reduce(float64[2,3,4]) function=sum axes=[1]
declined reduce sum float32 = reduce(float32[2,0]) function=sum axes=[1]
declined reduce sum float32 = reduce(float32[2,3]) function=sum axes=[]
declined reduce mean float32 = reduce(int32[2,4]) function=mean axes=[1]
declined reduce-wide sum int64 = reduce(int64[2,4]) function=mean axes=[1]`;

/** Numbers of which several are equal. */
const equal = elements(Array.from({ length: 30 }, (_, index) => (index * 7) % 4));
const repeated = elements(Array.from(ordinary("int8", [3, 4, 5]).data as Int8Array, (value) => value % 4));

const argReductions = ["max", "min"].flatMap((name) => {
  const start = `arg-reduce ${name} float32 =`;
  return [
    `${start} arg(special float32[3,9]) function=${name} axis=1`,
    ...["false", "true"].flatMap((last) => [
      ...[1, 2].map((axis) => `${start} arg(float32[2,5,3] = ${equal}) function=${name} axis=${axis} last=${last}`),
      ...(name === "min" && last === "false" ? [] : [0, 1, 2]).map(
        (axis) => `${start} arg(float32[3,4,5] = ${repeated}) function=${name} axis=${axis} last=${last}`,
      ),
    ]),
  ];
});

const scans = numeric.flatMap(([type, relation]) => [
  ...["sum", "product"].flatMap((name) => [
    `cumulative ${name} ${type} ${relation} cumulative(${special(type)}[3,9]) function=${name} axis=1 exclusive=true reverse=true`,
    `cumulative ${name} ${type} ${relation} cumulative(${type}[3,9]) function=${name} axis=1`,
    `cumulative ${name} ${type} ${relation} cumulative(${type}[2,5,19]) function=${name} axis=1 exclusive=true`,
    `cumulative ${name} ${type} ${relation} cumulative(${type}[2,4,3]) function=${name} axis=1 reverse=true`,
  ]),
  `cumulative sum ${type} ${relation} cumulative(${type}[3,4,5]) function=sum axis=0`,
  `cumulative sum ${type} ${relation} cumulative(${type}[3,4,5]) function=sum axis=1 exclusive=true`,
  `cumulative sum ${type} ${relation} cumulative(${type}[3,4,5]) function=sum axis=2 reverse=true`,
  `top-k ${type} = top-k(${type}[3,9]) axis=1 count=4`,
  `top-k ${type} = top-k(${type}[2,7,3]) axis=1 count=3 largest=false`,
  `top-k ${type} = top-k(${type}[2,21]) axis=1 count=21`,
  `top-k ${type} = top-k(${type}[3,8]) axis=1 count=1 largest=false`,
  `top-k ${type} = top-k(${type}[5,4]) axis=0 count=2`,
  ...[0, 1, 2].map((axis) => `top-k ${type} = top-k(${type}[3,4,5]) axis=${axis} count=2 largest=false`),
]);

const zeros = "[0, -0, 1, -0, 0, -1e-45, -0, -0, 0, -1, 1e-45, -0, 0, NaN]";
const ties = elements(Array.from({ length: 46 }, (_, index) => (index * 5) % 6));

const moreScans = `
top-k float32 = top-k(float32[2,7] = ${zeros}) axis=1 count=5
top-k float32 = top-k(float32[2,7] = ${zeros}) axis=1 count=5 largest=false
top-k float32 = top-k(float32[2,23] = ${ties}) axis=1 count=9
top-k float32 = top-k(float32[2,23] = ${ties}) axis=1 count=9 largest=false
declined arg-reduce max float32 = arg(float64[2,3,4]) function=max axis=1
declined cumulative sum float32 = cumulative(float64[2,3,4]) function=sum axis=1
declined top-k float32 = top-k(float64[2,3,4]) axis=2 count=2`;

/** All check cases of kernels that work along an axis. */
export const axisCases: string = [softmaxes, norms, ...reductions, moreReductions, ...argReductions, ...scans, moreScans].join(
  "\n",
);
