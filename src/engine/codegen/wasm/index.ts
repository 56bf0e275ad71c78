/** The WebAssembly code generator: all kernel generators, and functions to compile kernels. */
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
export { kernelCall, type Kernel, type KernelCall, type CompiledKernel, type KernelStatus, readPaddingBytes } from "./kernel.ts";
export { floatBytes } from "./kernels/loops/lanes.ts";
export { type ArgReduceRequest, argReduce } from "./kernels/reductions/arg-reduce.ts";
export { blockLayout, activationRowBytes, packedBlockBytes } from "./kernels/blocks/block-layout.ts";
export { type BlockMatmulRequest, blockMatmul } from "./kernels/blocks/block-matmul.ts";
export { type GatherRowsRequest, gatherBlockRows } from "./kernels/blocks/gather-rows.ts";
export { packBlocks, unpackBlocks } from "./kernels/blocks/pack-blocks.ts";
export { quantizeActivationBytes } from "./kernels/blocks/quantize-activation-bytes.ts";
export { quantizeActivations } from "./kernels/blocks/quantize-activations.ts";
export { type BatchedMatmulRequest, type MatrixStrides, batchedMatmul } from "./kernels/matmul/batched-matmul.ts";
export {
  channelPanelsLength,
  packChannelPanels,
  panelChannels,
  unpackChannelPanels,
} from "./kernels/convolution/channel-panels.ts";
export { type Conv2dRequest, conv2d } from "./kernels/convolution/conv2d.ts";
export { type InterleavedAxis, interleave } from "./kernels/convolution/interleave.ts";
export { type Pool2dRequest, pool2d } from "./kernels/convolution/pool2d.ts";
export { type DepthWindow, type KernelWindow, flattenPointwise, resolveWindow } from "./kernels/convolution/window.ts";
export { type CumulativeType, cumulative } from "./kernels/reductions/cumulative.ts";
export { elementwise } from "./kernels/elementwise/elementwise.ts";
export { supportsElementwise } from "./kernels/elementwise/support.ts";
export { registerType } from "./kernels/elementwise/registers.ts";
export { laneBytes } from "./kernels/elementwise/request.ts";
export type { ElementwiseType, ElementwiseInput, ElementwiseRequest, Step } from "./kernels/elementwise/request.ts";
export { type GatherRequest, gather } from "./kernels/movement/gather.ts";
export { gatherBlocks, scatterBlocks } from "./kernels/movement/gather-scatter-nd.ts";
export { gatherElements, scatterElements } from "./kernels/movement/gather-scatter-elements.ts";
export type { IndexType } from "./kernels/movement/load-index.ts";
export type { ScatterType } from "./kernels/movement/scatter-reduction.ts";
export { type ByteMatmulRequest, byteMatmul } from "./kernels/quantized/byte-matmul.ts";
export { rowBytes } from "./kernels/quantized/byte-layout.ts";
export { type ByteWeights, fitsBytes, packBytes, packedBytesLength } from "./kernels/quantized/pack-bytes.ts";
export { type QuantizeRowsRequest, quantizeRows } from "./kernels/quantized/quantize-rows.ts";
export { type IntegerMatmulRequest, integerMatmul } from "./kernels/quantized/integer-matmul.ts";
export type { FloatOutput, IntegerOutput } from "./kernels/quantized/integer-epilogue.ts";
export { type IntegerWeightsShape, packIntegerWeights, packedIntegerLength } from "./kernels/quantized/integer-packing.ts";
export { type MatmulRequest, matmul } from "./kernels/matmul/matmul.ts";
export { packMatmulWeights, packedMatmulLength, unpackMatmulWeights, widePanelColumns } from "./kernels/matmul/weight-packing.ts";
export { type NormRequest, norm } from "./kernels/reductions/norm.ts";
export {
  type SubtractZeroPointRequest,
  type QuantizationRangeRequest,
  type QuantizeRequest,
  subtractZeroPoint,
  quantizationRange,
  quantize,
} from "./kernels/quantized/quantize.ts";
export { type ReduceRequest, type Reduction, reduce } from "./kernels/reductions/reduce.ts";
export { reduceInt64 } from "./kernels/reductions/reduce-int64.ts";
export { softmaxColumns } from "./kernels/reductions/softmax-columns.ts";
export { type SoftmaxRequest, softmax } from "./kernels/reductions/softmax.ts";
export { type StridedCopyRequest, stridedCopy } from "./kernels/movement/strided-copy.ts";
export { type TopKType, topK } from "./kernels/reductions/top-k.ts";
