/** Everything a planner needs of the WebAssembly emitter: the one visible list of kernel generators, and how they are compiled. */
export { detectWasmFeatures } from "./assembler/features.ts";
export type { WasmFeatures } from "./assembler/wasm-features.ts";
export { type WasmMemory, type WasmModule, wasmHost, wasmPageBytes } from "./assembler/webassembly.ts";
export {
  type CompiledKernels,
  type KernelFunctions,
  assembleKernels,
  compileKernels,
  instantiateKernels,
  kernelFunction,
} from "./compile.ts";
export { callOf, type Kernel, type KernelCall, type KernelFunction, type KernelStatus, readPaddingBytes } from "./kernel.ts";
export { type ArgReduceRequest, argReduce } from "./kernels/arg-reduce.ts";
export { type BatchedMatmulRequest, type MatrixStrides, batchedMatmul } from "./kernels/batched-matmul.ts";
export { type Conv2dRequest, conv2d } from "./kernels/convolution/conv2d.ts";
export { type InterleavedAxis, interleave } from "./kernels/convolution/interleave.ts";
export { type Pool2dRequest, pool2d } from "./kernels/convolution/pool2d.ts";
export { type DepthWindow, type Window, resolveWindow } from "./kernels/convolution/window.ts";
export { type CumulativeType, cumulative } from "./kernels/cumulative.ts";
export { elementwise } from "./kernels/elementwise/elementwise.ts";
export type { ElementType, ElementwiseInput, ElementwiseRequest, Step } from "./kernels/elementwise/request.ts";
export { type GatherRequest, gather } from "./kernels/gather-rows.ts";
export { gatherBlocks, scatterBlocks } from "./kernels/indexed-blocks.ts";
export { gatherElements, scatterElements } from "./kernels/indexed-elements.ts";
export type { IndexType } from "./kernels/load-index.ts";
export type { ScatterType } from "./kernels/scatter-reduction.ts";
export { type ByteMatmulRequest, byteMatmul } from "./kernels/byte-product/byte-matmul.ts";
export { rowBytes } from "./kernels/byte-product/byte-layout.ts";
export { type ByteWeights, fitsBytes, packBytes, packedBytesLength } from "./kernels/byte-product/pack-bytes.ts";
export { type QuantizeRowsRequest, quantizeRows } from "./kernels/byte-product/quantize-rows.ts";
export { type IntegerMatmulRequest, integerMatmul } from "./kernels/integer-matmul.ts";
export type { FloatOutput, IntegerOutput } from "./kernels/integer-tail.ts";
export {
  type IntegerWeights,
  type WeightBytes,
  integerWeightBytes,
  packIntegerWeights,
  packedIntegerLength,
} from "./kernels/integer-packing.ts";
export { type MatmulRequest, matmul } from "./kernels/matmul.ts";
export { packMatmulWeights, packedMatmulLength, unpackMatmulWeights } from "./kernels/matmul-packing.ts";
export { type NormRequest, norm } from "./kernels/norm.ts";
export {
  type CentreRequest,
  type QuantizationRangeRequest,
  type QuantizeRequest,
  centre,
  centredStride,
  quantizationRange,
  quantize,
} from "./kernels/quantize.ts";
export { type ReduceRequest, type Reduction, reduce } from "./kernels/reduce.ts";
export { reduceWide } from "./kernels/reduce-wide.ts";
export { softmaxColumns } from "./kernels/softmax-columns.ts";
export { type SoftmaxRequest, softmax } from "./kernels/softmax.ts";
export { type StridedCopyRequest, stridedCopy } from "./kernels/strided-copy.ts";
export { type TopKType, topK } from "./kernels/top-k.ts";
export type { Activation } from "./math/activation.ts";
