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

/** A rule. `functions`: separated by spaces. */
function rule(
  name: string,
  title: string,
  fileName: RegExp,
  functions: string,
  more: Pick<ClassRule, "decidedByName" | "variant"> = {},
): ClassRule {
  return { name, title, functions: functions.split(" "), fileName, ...more };
}

/** NumPy's and SciPy's builds have a prefix, and those with 64-bit integers a suffix. */
const openblasFunctions = ["get_config", "set_num_threads"]
  .map((name) => ["", "scipy_"].flatMap((prefix) => ["", "64_"].map((suffix) => `${prefix}openblas_${name}${suffix}`)).join("|"))
  .join(" ");

/** The rules, in the order in which classes are reported. */
export const classRules: readonly ClassRule[] = [
  rule(
    "bitnet",
    "bitnet.cpp",
    /^(?:lib)?bitnet/,
    "bitnet_model_new_from_file|ggml_bitnet_init bitnet_eval|ggml_bitnet_mul_mat_task_compute",
  ),
  rule(
    "llama",
    "llama.cpp",
    /^(?:lib)?llama\b/,
    "llama_backend_init llama_model_load_from_file|llama_load_model_from_file llama_decode llama_tokenize llama_get_logits",
  ),
  rule(
    "ggml",
    "ggml (registry of backends)",
    /^(?:lib)?ggml\./,
    "ggml_backend_load_all ggml_backend_reg_count ggml_backend_init_by_type",
  ),
  rule(
    "ggml-base",
    "ggml (tensors and graphs)",
    /^(?:lib)?ggml-base\b/,
    "ggml_init ggml_new_tensor_4d ggml_build_forward_expand gguf_init_from_file",
  ),
  rule("ggml-cpu", "ggml for CPUs", /^(?:lib)?ggml-cpu\b/, "ggml_backend_cpu_init ggml_graph_compute ggml_cpu_has_avx2", {
    variant: /^(?:lib)?ggml-cpu-([a-z0-9_.]+?)(?:\.(?:so|dylib|dll)[.\d]*)?$/,
  }),
  rule("ggml-cuda", "ggml for CUDA", /^(?:lib)?ggml-cuda\b/, "ggml_backend_cuda_init ggml_backend_cuda_buffer_type"),
  rule("ggml-vulkan", "ggml for Vulkan", /^(?:lib)?ggml-vulkan\b/, "ggml_backend_vk_init ggml_backend_vk_buffer_type"),
  rule("ggml-metal", "ggml for Metal", /^(?:lib)?ggml-metal\b/, "ggml_backend_metal_init ggml_backend_is_metal"),
  rule("onnxruntime", "ONNX Runtime", /^(?:lib)?onnxruntime\b/, "OrtGetApiBase"),
  rule(
    "onnxruntime-provider",
    "execution provider of ONNX Runtime",
    /^(?:lib)?onnxruntime_providers_/,
    "GetProvider|Provider_SetHost",
    { decidedByName: true, variant: /^(?:lib)?onnxruntime_providers_([a-z0-9]+)/ },
  ),
  rule("pjrt", "PJRT plugin", /pjrt|^xla_.*plugin|^libtpu\b/, "GetPjrtApi"),
  rule("pjrt-cpu", "PJRT plugin for CPUs", /pjrt.*cpu|^xla_cpu_plugin/, "GetPjrtApi", { decidedByName: true }),
  rule("pjrt-cuda", "PJRT plugin for CUDA", /pjrt.*(?:gpu|cuda)|^xla_cuda_plugin/, "GetPjrtApi", { decidedByName: true }),
  rule("pjrt-tpu", "PJRT plugin for TPUs", /^libtpu\b|pjrt.*tpu/, "GetPjrtApi", { decidedByName: true }),
  rule("cuda-runtime", "CUDA runtime", /^(?:lib)?cudart/, "cudaMalloc cudaMemcpy cudaLaunchKernel cudaRuntimeGetVersion"),
  rule("cuda-driver", "CUDA driver", /^(?:libcuda\b|nvcuda\b)/, "cuInit cuDeviceGet cuLaunchKernel cuMemAlloc_v2"),
  // Programs that load cuBLAS when they need it export functions of the same names for those that they call (CTranslate2 8 of them).
  rule(
    "cublas",
    "cuBLAS",
    /^(?:lib)?cublas(?!lt)/,
    "cublasCreate_v2 cublasSgemm_v2 cublasDgemm_v2 cublasGetVersion_v2 cublasGetProperty",
  ),
  rule("cublaslt", "cuBLASLt", /^(?:lib)?cublaslt/, "cublasLtCreate cublasLtMatmul cublasLtMatrixTransform cublasLtGetVersion"),
  rule("cudnn", "cuDNN", /^(?:lib)?cudnn/, "cudnnGetVersion cudnnCreate cudnnGetErrorString cudnnGetProperty"),
  rule("cusparselt", "cuSPARSELt", /^(?:lib)?cusparselt/, "cusparseLtInit cusparseLtMatmul"),
  rule("mkl", "oneMKL", /^(?:lib)?mkl_/, "MKL_Get_Version|mkl_get_version MKL_Set_Num_Threads|mkl_set_num_threads"),
  rule("onednn", "oneDNN", /^(?:lib)?(?:dnnl|mkldnn)\b/, "dnnl_version dnnl_engine_create dnnl_primitive_create"),
  rule("openblas", "OpenBLAS", /^(?:lib)?(?:scipy_)?openblas/, openblasFunctions),
  rule("blis", "BLIS", /^(?:lib)?blis/, "bli_init bli_gemm bli_info_get_version_str"),
  rule("openmp", "OpenMP runtime", /^(?:lib)?(?:gomp|i?omp5?|vcomp)/, "omp_get_num_threads GOMP_parallel|__kmpc_fork_call"),
  rule("nnpack", "NNPACK", /^(?:lib)?nnpack/, "nnp_initialize nnp_convolution_inference"),
  rule("neuron", "AWS Neuron runtime", /^libnrt\b/, "nrt_init nrt_load nrt_execute"),
  rule("triton", "Triton compiler", /^libtriton\b/, "PyInit_libtriton"),
];
