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
    code: "const copies =",
    reason: "panels are copied where that is faster",
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
    code: "const splitsColumns =",
    reason: "pieces are panels or rows, whichever is faster",
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
    file: "src/engine/codegen/wasm/kernels/elementwise/integer-operations.ts",
    code: "i32.leU(i32.add(divisor",
    reason: "a division by 1 may be replaced too: the dividend times the divisor is the same",
  },
  {
    file: "src/engine/codegen/wasm/kernels/elementwise/integer-operations.ts",
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
    file: "src/formats/gguf/blocks/encode.ts",
    code: "if (scale <= 0) continue;",
    reason: "scales are above 0: codes grow with the values",
  },
];
