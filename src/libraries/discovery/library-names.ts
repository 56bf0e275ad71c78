/** Names of shared libraries and static archives that matter for inference, by the conventions of Linux, macOS and Windows. */

/** Names without their extension, in lower case. */
const names = [
  /^(?:lib)?(?:bitnet|llama|ggml|onnxruntime)/,
  // PJRT plugins: pjrt_c_api_cpu_plugin, libpjrt_c_api_gpu, xla_cuda_plugin; libtpu is one as well.
  /pjrt|^xla_\w+_plugin$|^libtpu/,
  /^(?:lib)?(?:cudart|cublas|cudnn|cusparselt)/,
  // The driver alone: libcudadebugger and its like are other libraries.
  /^(?:libcuda|nvcuda)$/,
  /^(?:lib)?(?:mkl_|mkldnn|dnnl|openblas|blis|nnpack)/,
  // OpenMP runtimes of GCC, LLVM and Intel. Python wheels append a digest to the name.
  /^lib(?:gomp|i?omp5?)(?:md)?(?:[-.]|$)/,
  /^lib(?:nrt|triton)/,
];

const extension = /\.(?:so(?:\.\d[\w.-]*)?|dylib|dll|a)$/;

/** Whether a file has the name of an inference library. Only its content shows the kind. */
export function isInferenceLibrary(fileName: string): boolean {
  const name = fileName.toLowerCase();
  const stem = name.replace(extension, "");
  return stem !== name && names.some((pattern) => pattern.test(stem));
}
