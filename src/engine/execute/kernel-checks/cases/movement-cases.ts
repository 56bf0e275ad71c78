/** Check cases of kernels that move elements: copies with strides, padding, gathers and scatters. */

const widths = ["uint8", "float16", "float32", "int64"];

const pads = ["constant", "reflect", "edge", "wrap"].flatMap((mode) => {
  const value = (type: string): string => (mode === "constant" ? `, ${type}[] = [7]` : "");
  return [
    `strided-copy = pad(float32[3,4,5]${value("float32")}) mode=${mode} before=[2,0,1] after=[1,3,0]`,
    `strided-copy = pad(uint8[3,4]${value("uint8")}) mode=${mode} before=[1,2] after=[0,2]`,
    `strided-copy = pad(float32[3]${value("float32")}) mode=${mode} before=[2] after=[2]`,
  ];
});

const copies = `
strided-copy = pad(float32[2,3]) mode=edge before=[5,0] after=[0,6]
strided-copy = pad(float32[0,3], float32[] = [7]) mode=constant before=[0,2] after=[3,0]
strided-copy = concat(float32[2,3,4], float32[0,3,4], float32[2,3,4]#3) axis=0
strided-copy = concat(float32[2,3,4], float32[2,0,4], float32[2,2,4]#3) axis=1
strided-copy = concat(float32[2,3,4], float32[2,3,0], float32[2,3,2]#3) axis=2
strided-copy = concat(int64[2,3], int64[1,3]#2, int64[3,3]#3) axis=0
strided-copy = concat(float32[1], float32[3]#2, float32[1]#3) axis=0
strided-copy = concat(float32[3,5], float32[3,2]#2) axis=1
strided-copy = slice(float32[2,3,4]) starts=[1,2,0] steps=[-1,-2,3] sizes=[2,2,2]
strided-copy = slice(float32[2,3,4]) starts=[1,1,2] sizes=[1,2,2]
strided-copy = slice(special float32[5,11]) starts=[4,1] steps=[-2,3] sizes=[2,3]
strided-copy = slice(float32[9001]) sizes=[9000]
strided-copy = transpose(float32[2,3,4]) permutation=[2,1,0]
strided-copy = transpose(float16[2,3,4,5]) permutation=[0,2,1,3]
strided-copy = transpose(float32[5,7]) permutation=[1,0]
strided-copy = transpose(float32[8,12]) permutation=[1,0]
strided-copy = transpose(float32[2,6,3,9]) permutation=[0,3,1,2]
strided-copy = transpose(float32[3,9,2,4]) permutation=[2,1,3,0]
strided-copy = transpose(float32[2,3,4,5]) permutation=[0,2,1,3]
strided-copy = expand(float32[3,1,4]) shape=[2,3,2,4]
strided-copy = expand(float32[2,1]) shape=[3,2,5]
strided-copy = expand(uint8[1]) shape=[20001]
strided-copy = expand(float16[1]) shape=[10001]
strided-copy = expand(float32[1]) shape=[5001]
strided-copy = expand(int64[1]) shape=[2501]
declined strided-copy = concat(string[2] = ["a", "b"], string[1] = ["c"]) axis=0
declined strided-copy = slice(string[2] = ["a", "b"]) starts=[1] sizes=[1]
declined strided-copy = pad(float32[3]) mode=reflect before=[3] after=[0]
declined strided-copy = pad(float32[3]) mode=wrap before=[0] after=[4]`;

const copiesOfWidths = [
  ...[1, 2, 3, 5, 7, 13, 22, 31, 47].map(
    (length) => `strided-copy = slice(uint8[3,${length + 2}]) starts=[0,1] sizes=[3,${length}]`,
  ),
  ...widths.flatMap((type) => [
    `strided-copy = transpose(${type}[3,5,7]) permutation=[2,0,1]`,
    `strided-copy = slice(${type}[3,13]) starts=[0,1] steps=[1,3] sizes=[2,4]`,
    `strided-copy = expand(${type}[3,1]) shape=[3,13]`,
    `strided-copy = expand(${type}[3,1]) shape=[3,31]`,
    `strided-copy = expand(${type}[2,1,3]) shape=[2,4,3]`,
  ]),
];

/** Coordinates of two axes of sizes 4 and 3. */
const pairs = "int64[4,2] = [1, 2, 3, 0, -1, 1, 0, -2]";

const gathers = `
gather = gather(float32[3,6,2], int32[4] below 6) axis=1
gather = gather(uint8[5,35], int64[3] below 5) axis=0
gather = gather(float32[3,9], int64[5] below 9) axis=1
gather = gather(float32[2,5,20], constant int64[40] = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18, 19, 19]) axis=2
gather = gather(float32[9,9], constant int64[27] = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8]) axis=1
gather = gather(int32[2,6,40], constant int32[13] = [-40, 2, 1, 4, 6, 5, 7, 9, 8, 35, 36, 38, -1]) axis=2
gather-elements = gather-elements(float32[3,6], int64[3,4] below 6) axis=1
gather-elements = gather-elements(float32[2,7,4], int64[2,3,4] below 7) axis=1
gather-elements = gather-elements(float32[7], int64[2051] below 7) axis=0
gather-elements = gather-elements(uint8[5], int32[3] below 5) axis=0
gather-blocks = gather-nd(float32[4,5,3], int64[6,1] below 4)
gather-blocks = gather-nd(float32[2,4,3], int32[2,3,1] below 4) batchAxes=1
gather-blocks = gather-nd(float32[3,4,5], int64[2,2,2] below 3)
gather-blocks = gather-nd(float32[3,4,5], int64[3,2,1] below 4) batchAxes=1
gather-blocks = gather-nd(float32[3,4,5], int64[3,4,1] below 5) batchAxes=2
gather-blocks = gather-nd(uint8[3,4], int64[5,2] below 3)
declined gather = gather(string[2] = ["a", "b"], int64[2] = [1, 0]) axis=0
declined gather-elements = gather-elements(string[2] = ["a", "b"], int64[1] = [1]) axis=0
declined gather-blocks = gather-nd(string[2] = ["a", "b"], int64[1,1] = [1])`;

const gathersOfWidths = widths.flatMap((type) => [
  `gather = gather(${type}[6,5], int64[2,3] below 6) axis=0`,
  `gather = gather(${type}[4,7,3], int32[2,2] below 7) axis=1`,
  `gather-elements = gather-elements(${type}[4,5,3], int32[3,4,2] below 4) axis=0`,
  `gather-blocks = gather-nd(${type}[4,3,5], ${pairs})`,
]);

const gathersOfAxes = [0, 1, 2].flatMap((axis) => {
  const one = [1, 1, 1].with(axis, 2).join();
  return [
    `gather = gather(float32[3,4,5], int64[2,2] below 3) axis=${axis}`,
    `gather-elements = gather-elements(float32[3,4,5], int64[2,3,2] below 3) axis=${axis}`,
    `scatter-elements = scatter-elements(float32[3,4,5], int64[${one}] = [2, 0], float32[${one}]#2) axis=${axis}`,
  ];
});

const scatters = `
strided-copy = scatter-elements(float32[4], int64[0] below 4, float32[0]) axis=0
scatter-elements = scatter-elements(float32[4], int64[1] below 4, float32[1]#2) axis=0
scatter-elements = scatter-elements(float32[3,300], int64[2,290] below 3, float32[2,290]#2) axis=0
strided-copy = scatter-nd(float32[4], int64[0,1] below 4, float32[0])
scatter-blocks = scatter-nd(float32[4], int64[1,1] below 4, float32[1]#2)
scatter-blocks = scatter-nd(float32[3,300], int64[2,1] below 3, float32[2,300]#2)
scatter-blocks = scatter-nd(float32[3,4,5], int64[3,2] = [0, 1, 2, -1, 1, 3], float32[3,5]#2)
scatter-blocks = scatter-nd(int64[4,2], int64[2,1] = [3, 1], int64[2,2]#2)
declined scatter-elements = scatter-elements(string[2] = ["a", "b"], int64[1] = [1], string[1] = ["c"]) axis=0
declined scatter-elements add float32 = scatter-elements(float64[2,2], int64[2,2] = [1, 0, 1, 1], float64[2,2]#2) axis=0 reduction=add
declined scatter-blocks = scatter-nd(string[2] = ["a", "b"], int64[1,1] = [1], string[1] = ["c"])
declined scatter-blocks add float32 = scatter-nd(float64[2,2], int64[2,2] = [1, 0, 1, 1], float64[2]#2) reduction=add`;

const scattersOfTypes = ["none", "add", "mul", "min", "max"].flatMap((reduction) =>
  (reduction === "none" ? widths : ["float32", "int32", "int64"]).flatMap((type) => {
    const suffix = reduction === "none" ? "" : ` ${reduction} ${type}`;
    const where = "int32[2,3,2] = [4, 0, 1, -1, 2, 3, 0, 1, -4, 4, 3, 2]";
    const more = [
      `scatter-elements${suffix} = scatter-elements(${type}[4,3], int64[2,3] below 4, ${type}[2,3]#2) axis=0 reduction=${reduction}`,
      `scatter-blocks${suffix} = scatter-nd(${type}[4,3], int64[3,1] below 4, ${type}[3,3]#2) reduction=${reduction}`,
    ];
    return [
      ...(reduction === "none" && type !== "float32" ? [] : more),
      `scatter-elements${suffix} = scatter-elements(${type}[3,5,2], ${where}, ${type}[2,3,2]#2) axis=1 reduction=${reduction}`,
      `scatter-blocks${suffix} = scatter-nd(${type}[4,3,5], ${pairs}, ${type}[4,5]#2) reduction=${reduction}`,
    ];
  }),
);

/** Indices and updates whose shapes do not match, which inference does not refuse: kernels would read and write elements that are not there. */
const mismatches = `
refused scatter-elements = scatter-elements(float32[3,4], int64[2] = [1, 0], float32[2] = [1, 2]) axis=0
refused scatter-elements = scatter-elements(float32[] = [1], int64[] = [0], float32[] = [2]) axis=0
refused scatter-elements = scatter-elements(float32[3,4], int64[2,1] = [1, 0], float32[1,2] = [1, 2]) axis=0
refused scatter-elements = scatter-elements(float32[3,4], int64[1,5] = [1, 0, 1, 2, 1], float32[1,5]) axis=0
refused gather-elements = gather-elements(float32[3,4], int64[1,5] = [1, 0, 1, 2, 1]) axis=0
refused scatter-blocks = scatter-nd(float32[3,4], int64[2,1] = [1, 0], float32[1,4])`;

/** All check cases of kernels that move elements. */
export const movementCases: string = [
  ...pads,
  copies,
  ...copiesOfWidths,
  gathers,
  ...gathersOfWidths,
  ...gathersOfAxes,
  scatters,
  ...scattersOfTypes,
  mismatches,
].join("\n");
