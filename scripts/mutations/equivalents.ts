/** Lines whose mutations change nothing that is computed, each with the reason. A mutation of such a line that a check sees counts as killed. */
export const equivalents: readonly { readonly file: string; readonly code: string; readonly reason: string }[] = [
  {
    file: "src/engine/codegen/wasm/kernels/matmul/batched-matmul.ts",
    code: "const isDots =",
    reason:
      "chooses between ways to compute the same product; conditions that a way needs are seen where it is taken without them",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/batched-matmul.ts",
    code: "const isTold =",
    reason: "sizes that are arguments make one function serve more shapes",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/tiling.ts",
    code: "Math.floor(blockBytes /",
    reason: "rows of a block of the cache, which is any number of tiles",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/tiling.ts",
    code: "if (m === 1) return 3;",
    reason: "panels of a tile, which is any number",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/tiling.ts",
    code: "return m === 2 ? 2 : 1;",
    reason: "panels of a tile, which is any number",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/tiling.ts",
    code: "if (atOnce > 1) {",
    reason: "a loop over one panel at a time computes the same",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/weight-packing.ts",
    code: "column < n ?",
    reason: "columns behind the last are computed and not stored",
  },
  {
    file: "src/engine/codegen/wasm/kernels/quantized/integer-packing.ts",
    code: "if (last < first + tileColumns)",
    reason: "columns behind the last are computed and not stored",
  },
  {
    file: "src/engine/codegen/wasm/kernels/quantized/quantize-rows.ts",
    code: "byte < count * 2",
    reason: "bytes behind the columns are multiplied by weights of 0",
  },
  {
    file: "src/engine/codegen/wasm/kernels/quantized/quantize-rows.ts",
    code: "if (columns % runSize > 0)",
    reason: "a loop over no elements changes nothing",
  },
  {
    file: "src/engine/codegen/wasm/kernels/convolution/im2col.ts",
    code: "const canShift =",
    reason: "whole vectors are shifted where that is faster than copying element by element",
  },
  {
    file: "src/engine/codegen/wasm/kernels/blocks/block-codes.ts",
    code: "pair === pairs - 1 ?",
    reason: "the upper bits of the last pair are 0 after the shift",
  },
  {
    file: "src/engine/codegen/wasm/kernels/elementwise/integer-functions.ts",
    code: "scalar.leU(scalar.add(divisor",
    reason: "a division by 1 may be replaced too: the dividend times the divisor is the same",
  },
  {
    file: "src/engine/codegen/wasm/kernels/elementwise/integer-functions.ts",
    code: "v128.bitselect(a, b,",
    reason: "of equal elements either is the right one",
  },
  {
    file: "src/engine/codegen/wasm/kernels/elementwise/steps.ts",
    code: "i32x4.truncSatF32x4U(x), f32x4.lt(x",
    reason: "0 is converted to 0 either way",
  },
  {
    file: "src/engine/codegen/wasm/kernels/reductions/reduce.ts",
    code: "const [min, max] = type",
    reason: "the smallest number is where the search begins, and any smaller one serves",
  },
  {
    file: "src/engine/codegen/wasm/kernels/loops/row-loops.ts",
    code: "if (rest > 0) body(",
    reason: "a loop over no elements changes nothing",
  },
  {
    file: "src/engine/codegen/wasm/math/trigonometric.ts",
    code: "const sine =",
    reason: "one per cent of the last coefficient is below the rounding of float32",
  },
  {
    file: "src/engine/codegen/wasm/math/trigonometric.ts",
    code: "const cosine =",
    reason: "one per cent of the last coefficient is below the rounding of float32",
  },
  {
    file: "src/engine/codegen/wasm/math/exponential.ts",
    code: "0.0013813140103593469",
    reason: "one per cent of the last coefficient is below the rounding of float32",
  },
  {
    file: "src/engine/codegen/wasm/assembler/features.ts",
    code: "const baseline =",
    reason: "decides which features a probe of features is built with",
  },
  {
    file: "src/engine/codegen/wasm/assembler/features.ts",
    code: "pairs.every(",
    reason: "a machine whose dot product is not recognized computes without it",
  },
  {
    file: "src/engine/codegen/wasm/kernel.ts",
    code: 'typeof value === "bigint"',
    reason: "the key of a kernel is any text that differs for different requests",
  },
  {
    file: "src/engine/interpret/erf.ts",
    code: "if (magnitude > 6)",
    reason: "erf(x) is 1 in float64 from 5.93 on",
  },
  {
    file: "src/engine/interpret/erf.ts",
    code: "return magnitude < 2.5",
    reason: "the series and the continued fraction agree on both sides of 2.5",
  },
  {
    file: "src/engine/interpret/erf.ts",
    code: "Math.abs(term) > 1e-17",
    reason: "more or fewer terms than float64 can represent",
  },
  {
    file: "src/engine/interpret/erf.ts",
    code: "let index = 60",
    reason: "more terms than float64 can represent",
  },
  {
    file: "src/engine/interpret/elementwise.ts",
    code: "if (rest & 1n) result =",
    reason: "literals of 64 bits wrap around, so that wider intermediate results give the same bits",
  },
  {
    file: "src/engine/interpret/elementwise.ts",
    code: "square = BigInt.asIntN",
    reason: "literals of 64 bits wrap around, so that wider intermediate results give the same bits",
  },
  {
    file: "src/engine/interpret/elementwise.ts",
    code: "min: (a, b) => (a < b",
    reason: "equal integers are the same",
  },
  {
    file: "src/engine/interpret/elementwise.ts",
    code: "max: (a, b) => (a > b",
    reason: "equal integers are the same",
  },
  {
    file: "src/engine/interpret/reductions.ts",
    code: "min: (sum, value) => (value < sum",
    reason: "equal integers are the same",
  },
  {
    file: "src/engine/interpret/reductions.ts",
    code: "max: (sum, value) => (value > sum",
    reason: "equal integers are the same",
  },
  {
    file: "src/engine/interpret/gather-scatter.ts",
    code: "min: (old, update)",
    reason: "equal integers are the same",
  },
  {
    file: "src/engine/interpret/gather-scatter.ts",
    code: "max: (old, update)",
    reason: "equal integers are the same",
  },
  {
    file: "src/engine/interpret/fused.ts",
    code: "for (let at = 0; at < offsets.length",
    reason: "a typed array has no element there to read or write",
  },
  {
    file: "src/engine/interpret/products.ts",
    code: "for (let image = 0; image < batch",
    reason: "a typed array has no element there to write",
  },
  {
    file: "src/engine/interpret/random.ts",
    code: "found < 0 ? classes - 1",
    reason: "a sum of float64 that is rounded below the last bound is not drawn",
  },
  {
    file: "src/engine/interpret/determinant.ts",
    code: "for (let row = column + 1; row < size",
    reason: "a matrix has no row there, or none below the pivot that is larger",
  },
  ...["for (let group = 0; group < groups", "for (let output = 0; output < outputs"].map((code) => ({
    file: "src/engine/lower/convolution-transpose-phases.ts",
    code,
    reason: "what is written behind the last output is written again afterwards, or is no element of the array",
  })),
  {
    file: "src/engine/lower/convolution-transpose-phases.ts",
    code: "const reach =",
    reason: "a longer window whose further elements are 0 gives the same sums",
  },
  {
    file: "src/engine/lower/convolution-transpose.ts",
    code: "const fill = phases.phases * phases.window > taps",
    reason: "zeros where kernel elements are written afterwards change nothing",
  },
  {
    file: "src/engine/lower/convolution-transpose.ts",
    code: "const maxZeroFillRatio",
    reason: "decides whether a kernel or the interpreter computes",
  },
  {
    file: "src/engine/lower/convolution-transpose.ts",
    code: "const maxDynamicTaps",
    reason: "decides whether a kernel or the interpreter computes",
  },
  {
    file: "src/engine/lower/blocks.ts",
    code: "result.data !== output",
    reason: "copies elements that are there",
  },
  {
    file: "src/engine/codegen/wasm/kernels/movement/gather-scatter-nd.ts",
    code: "const isOneBatch =",
    reason: "the row of a batch is computed where there may be several",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/tiling.ts",
    code: "return rowsPerTile === tileRows ? rest",
    reason: "part of the key of a kernel, which may say more than it needs",
  },
  {
    file: "src/engine/codegen/wasm/kernels/reductions/top-k.ts",
    code: "const passes =",
    reason: "two ways to find the same elements",
  },
  {
    file: "src/engine/codegen/wasm/kernels/movement/strided-copy.ts",
    code: "crossing >= 0 && isForward",
    reason: "tiles are transposed where that is faster than copying element by element",
  },
  {
    file: "src/engine/codegen/wasm/kernels/loops/copy-bytes.ts",
    code: "done + 16 <= bytes",
    reason: "16 bytes may be copied as two times 8",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/gemv.ts",
    code: "panels % 2 === 0 ? pair",
    reason: "a panel without a partner is told by its own condition",
  },
  {
    file: "src/engine/codegen/wasm/assembler/features.ts",
    code: "builder.build({ shared: false })",
    reason: "a probe may have any memory",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/panel-copy.ts",
    code: "const fours =",
    reason: "rows behind the last are copied to room that is there",
  },
  {
    file: "src/engine/codegen/wasm/kernels/blocks/block-matmul.ts",
    code: "layout.smallestCode === 0",
    reason: "a sum times 0 is the same as no sum",
  },
  {
    file: "src/engine/codegen/wasm/kernels/convolution/window.ts",
    code: "<= maxUnrolledTaps",
    reason: "loops over the taps are unrolled where that is faster",
  },
  {
    file: "src/engine/interpret/random.ts",
    code: "for (let at = 0; at < values.length; at += 2)",
    reason: "a typed array has no element there to write",
  },
  {
    file: "src/engine/interpret/random.ts",
    code: "upTo.findIndex((end) => at < end)",
    reason: "a drawn number of 53 bits is no bound",
  },
  {
    file: "src/engine/interpret/elementwise.ts",
    code: "for (let index = 0; index < data.length; index += 1)",
    reason: "a typed array has no element there to write",
  },
  {
    file: "src/engine/interpret/tree-ensembles.ts",
    code: "for (let steps = 0; node >= 0",
    reason: "a cycle is found after as many steps as there are nodes, or one less",
  },
  {
    file: "src/engine/interpret/quantized.ts",
    code: 'to: "uint8", saturate: true',
    reason: "a zero point of a range that contains 0 lies from 0 to 255",
  },
  {
    file: "src/engine/codegen/wasm/assembler/features.ts",
    code: "(byte << 24) >> 24",
    reason: "a machine whose dot product is not recognized computes without it",
  },
  {
    file: "src/engine/codegen/wasm/kernels/blocks/block-layout.ts",
    code: "const headerBytes =",
    reason: "packed weights may leave bytes unused",
  },
  {
    file: "src/engine/codegen/wasm/kernels/blocks/block-layout.ts",
    code: "return elements + 8;",
    reason: "quantized activations may leave bytes unused",
  },
  {
    file: "src/engine/codegen/wasm/kernels/movement/strided-copy.ts",
    code: "return fillRows(",
    reason: "rows are filled where that is faster than copying element by element",
  },
  {
    file: "src/engine/codegen/wasm/kernels/elementwise/float16.ts",
    code: "const endless =",
    reason: "every payload is NaN",
  },
  {
    file: "src/engine/codegen/wasm/kernels/loops/row-loops.ts",
    code: "if (unroll > 1) upTo(",
    reason: "rows may be computed a vector at a time",
  },
  {
    file: "src/engine/codegen/wasm/kernels/loops/row-loops.ts",
    code: "unroll: number = 1,",
    reason: "iterations may be unrolled any number of times",
  },
  {
    file: "src/engine/codegen/wasm/kernels/loops/addressing.ts",
    code: "return select(i32",
    reason: "of equal numbers either is the right one",
  },
  {
    file: "src/engine/codegen/wasm/kernels/quantized/pack-bytes.ts",
    code: "const squares:",
    reason: "an upper bound may be larger",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/matmul.ts",
    code: "m <= maxMemoryBoundRows",
    reason: "panels of a tile, which is any number",
  },
  {
    file: "src/engine/codegen/wasm/kernels/blocks/quantize-activation-bytes.ts",
    code: "f32x4.extractLane(scale, 0)",
    reason: "the scale is in every lane",
  },
  {
    file: "src/engine/codegen/wasm/kernels/quantized/integer-matmul.ts",
    code: "vectors: Math.ceil(columns / laneCount)",
    reason: "columns behind the last are computed and not stored",
  },
  {
    file: "src/engine/codegen/wasm/kernels/matmul/batched-matmul.ts",
    code: "columns: n < width ? { n } : { width, rest: n % width }",
    reason: "part of the key of a kernel, which may say more than it needs",
  },
  {
    file: "src/engine/codegen/wasm/kernels/quantized/pack-bytes.ts",
    code: "for (let row = 0; row < k; row += 2)",
    reason: "an array has no weights there, and what is missing exceeds no bound",
  },
  {
    file: "src/engine/codegen/wasm/kernels/convolution/im2col.ts",
    code: "const lanes = Math.min(laneCount, columns - vector * laneCount);",
    reason: "columns behind the last are computed and not stored",
  },
  {
    file: "src/engine/codegen/wasm/assembler/features.ts",
    code: "extendLowI16x8S(products), 0)",
    reason: "the product is in every lane",
  },
  {
    file: "src/engine/lower/quantized.ts",
    code: "weightBytes: min >= -128",
    reason: "weights of one byte may lie as two",
  },
  {
    file: "src/formats/gguf/blocks/k-quants.ts",
    code: ">> (4 * (group & 1))",
    reason: "4 divided by 1 is 4, and a shift by 4 divided by 0 is none",
  },
  {
    file: "src/engine/codegen/wasm/kernels/quantized/quantize-rows.ts",
    code: "Math.min(groupSize, size - start)",
    reason: "a norm is an upper bound and may be larger: the sums of 32 bits that it then asks for are the same",
  },
  {
    file: "src/engine/codegen/wasm/kernels/quantized/pack-bytes.ts",
    code: "const words = new Int32Array(",
    reason: "a view may be longer than what is written to it",
  },
  {
    file: "src/engine/codegen/wasm/kernels/convolution/conv2d.ts",
    code: "pads.some((pad) => pad > 0)) return window;",
    reason: "a plane that is not taken as one row is computed row by row, with the same sums",
  },
];
