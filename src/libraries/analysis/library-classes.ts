/**
 * The libraries that an analysis recognizes, by functions that only they export. Sources: the public headers of each project; the
 * exports of released builds.
 */

/** Rule that recognizes one kind of library. */
export interface ClassRule {
  readonly name: string;
  readonly title: string;
  /** Functions that identify it; `a|b`: either, as releases differ. */
  readonly functions: readonly string[];
  /** Names of its file, without the version. */
  readonly fileName: RegExp;
  /** Whether others export the same functions, so that only the file name decides. Default: false. */
  readonly decidedByName?: boolean;
  /** The part of the file name that distinguishes builds, as its first group. */
  readonly variant?: RegExp;
}

/** The rules, in the order in which classes are reported. */
export const classRules: readonly ClassRule[] = [
  {
    name: "bitnet",
    title: "bitnet.cpp",
    functions: ["bitnet_model_new_from_file|ggml_bitnet_init", "bitnet_eval|ggml_bitnet_mul_mat_task_compute"],
    fileName: /^(?:lib)?bitnet/,
  },
  {
    name: "llama",
    title: "llama.cpp",
    functions: [
      "llama_backend_init",
      "llama_model_load_from_file|llama_load_model_from_file",
      "llama_decode",
      "llama_tokenize",
      "llama_get_logits",
    ],
    fileName: /^(?:lib)?llama\b/,
  },
  {
    name: "ggml",
    title: "ggml (registry of backends)",
    functions: ["ggml_backend_load_all", "ggml_backend_reg_count", "ggml_backend_init_by_type"],
    fileName: /^(?:lib)?ggml\./,
  },
  {
    name: "ggml-base",
    title: "ggml (tensors and graphs)",
    functions: ["ggml_init", "ggml_new_tensor_4d", "ggml_build_forward_expand", "gguf_init_from_file"],
    fileName: /^(?:lib)?ggml-base\b/,
  },
  {
    name: "ggml-cpu",
    title: "ggml for CPUs",
    functions: ["ggml_backend_cpu_init", "ggml_graph_compute", "ggml_cpu_has_avx2"],
    fileName: /^(?:lib)?ggml-cpu\b/,
    variant: /^(?:lib)?ggml-cpu-([a-z0-9_.]+?)(?:\.(?:so|dylib|dll)[.\d]*)?$/,
  },
  {
    name: "ggml-cuda",
    title: "ggml for CUDA",
    functions: ["ggml_backend_cuda_init", "ggml_backend_cuda_buffer_type"],
    fileName: /^(?:lib)?ggml-cuda\b/,
  },
  {
    name: "ggml-vulkan",
    title: "ggml for Vulkan",
    functions: ["ggml_backend_vk_init", "ggml_backend_vk_buffer_type"],
    fileName: /^(?:lib)?ggml-vulkan\b/,
  },
  {
    name: "ggml-metal",
    title: "ggml for Metal",
    functions: ["ggml_backend_metal_init", "ggml_backend_is_metal"],
    fileName: /^(?:lib)?ggml-metal\b/,
  },
  {
    name: "onnxruntime",
    title: "ONNX Runtime",
    functions: ["OrtGetApiBase"],
    fileName: /^(?:lib)?onnxruntime\b/,
  },
  {
    name: "onnxruntime-provider",
    title: "execution provider of ONNX Runtime",
    functions: ["GetProvider|Provider_SetHost"],
    fileName: /^(?:lib)?onnxruntime_providers_/,
    decidedByName: true,
    variant: /^(?:lib)?onnxruntime_providers_([a-z0-9]+)/,
  },
  { name: "pjrt", title: "PJRT plugin", functions: ["GetPjrtApi"], fileName: /pjrt|^xla_.*plugin|^libtpu\b/ },
  {
    name: "pjrt-cpu",
    title: "PJRT plugin for CPUs",
    functions: ["GetPjrtApi"],
    fileName: /pjrt.*cpu|^xla_cpu_plugin/,
    decidedByName: true,
  },
  {
    name: "pjrt-cuda",
    title: "PJRT plugin for CUDA",
    functions: ["GetPjrtApi"],
    fileName: /pjrt.*(?:gpu|cuda)|^xla_cuda_plugin/,
    decidedByName: true,
  },
  {
    name: "pjrt-tpu",
    title: "PJRT plugin for TPUs",
    functions: ["GetPjrtApi"],
    fileName: /^libtpu\b|pjrt.*tpu/,
    decidedByName: true,
  },
  {
    name: "cuda-runtime",
    title: "CUDA runtime",
    functions: ["cudaMalloc", "cudaMemcpy", "cudaLaunchKernel", "cudaRuntimeGetVersion"],
    fileName: /^(?:lib)?cudart/,
  },
  {
    name: "cuda-driver",
    title: "CUDA driver",
    functions: ["cuInit", "cuDeviceGet", "cuLaunchKernel", "cuMemAlloc_v2"],
    fileName: /^(?:libcuda\b|nvcuda\b)/,
  },
  // Programs that load cuBLAS when they need it export functions of the same names for those that they call (CTranslate2 8 of them).
  {
    name: "cublas",
    title: "cuBLAS",
    functions: ["cublasCreate_v2", "cublasSgemm_v2", "cublasDgemm_v2", "cublasGetVersion_v2", "cublasGetProperty"],
    fileName: /^(?:lib)?cublas(?!lt)/,
  },
  {
    name: "cublaslt",
    title: "cuBLASLt",
    functions: ["cublasLtCreate", "cublasLtMatmul", "cublasLtMatrixTransform", "cublasLtGetVersion"],
    fileName: /^(?:lib)?cublaslt/,
  },
  {
    name: "cudnn",
    title: "cuDNN",
    functions: ["cudnnGetVersion", "cudnnCreate", "cudnnGetErrorString", "cudnnGetProperty"],
    fileName: /^(?:lib)?cudnn/,
  },
  {
    name: "cusparselt",
    title: "cuSPARSELt",
    functions: ["cusparseLtInit", "cusparseLtMatmul"],
    fileName: /^(?:lib)?cusparselt/,
  },
  {
    name: "mkl",
    title: "oneMKL",
    functions: ["MKL_Get_Version|mkl_get_version", "MKL_Set_Num_Threads|mkl_set_num_threads"],
    fileName: /^(?:lib)?mkl_/,
  },
  {
    name: "onednn",
    title: "oneDNN",
    functions: ["dnnl_version", "dnnl_engine_create", "dnnl_primitive_create"],
    fileName: /^(?:lib)?(?:dnnl|mkldnn)\b/,
  },
  {
    name: "openblas",
    title: "OpenBLAS",
    // NumPy's and SciPy's builds have a prefix, and those with 64-bit integers a suffix.
    functions: ["get_config", "set_num_threads"].map((name) =>
      ["", "scipy_"].flatMap((prefix) => ["", "64_"].map((suffix) => `${prefix}openblas_${name}${suffix}`)).join("|"),
    ),
    fileName: /^(?:lib)?(?:scipy_)?openblas/,
  },
  { name: "blis", title: "BLIS", functions: ["bli_init", "bli_gemm", "bli_info_get_version_str"], fileName: /^(?:lib)?blis/ },
  {
    name: "openmp",
    title: "OpenMP runtime",
    functions: ["omp_get_num_threads", "GOMP_parallel|__kmpc_fork_call"],
    fileName: /^(?:lib)?(?:gomp|i?omp5?|vcomp)/,
  },
  { name: "nnpack", title: "NNPACK", functions: ["nnp_initialize", "nnp_convolution_inference"], fileName: /^(?:lib)?nnpack/ },
  { name: "neuron", title: "AWS Neuron runtime", functions: ["nrt_init", "nrt_load", "nrt_execute"], fileName: /^libnrt\b/ },
  { name: "triton", title: "Triton compiler", functions: ["PyInit_libtriton"], fileName: /^libtriton\b/ },
];
