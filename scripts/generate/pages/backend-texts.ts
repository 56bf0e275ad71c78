/** What the pages of backends say besides the declarations of the backend. Markdown; links are relative to docs/reference/backends/. */

/** The text on one backend. */
export interface BackendText {
  readonly summary: string;
  /** System, and how what the backend needs gets there. */
  readonly installation: readonly (readonly [system: string, how: string])[];
  /** A sentence: on which devices it was tried. */
  readonly devices: string;
  /** What shows that the engine computes right, and where it computed. */
  readonly proof: string;
  /** A command with its output, which the tests of the documentation run where they can. */
  readonly example: string;
  readonly links: string;
}

const sentence = "a cat sits on the mat";

function example(command: string, output: string, mark = "<!-- output varies: times -->"): string {
  return `${mark}\n\`\`\`console\n$ npx inferyard ${command}\n${output}\n\`\`\``;
}

/** By the names of the backends. */
export const backendTexts: Readonly<Record<string, BackendText>> = {
  onnx: {
    summary:
      "ONNX Runtime's native library runs ONNX models: every operator of ONNX, on CPUs and, by its execution providers, on accelerators.",
    installation: [
      [
        "Linux, x86-64 and arm64",
        "`npm install onnxruntime-node --ignore-scripts`; the providers for CUDA and TensorRT are [fetched apart](../../guide/choosing-a-backend.md#cuda-on-linux)",
      ],
      ["macOS", "`npm install onnxruntime-node --ignore-scripts`; CoreML is part of it"],
      ["Windows", "`npm install onnxruntime-node --ignore-scripts`; DirectML is part of it"],
    ],
    devices: "The tests run it on the CPU; accelerators were not tried.",
    proof:
      "`doctor` runs a tiny graph with a known answer on each device, in a child process. After a model's first run ONNX Runtime's profile says how many nodes ran on which provider: nodes on another one than the target refuse it (`cpuNodes`).",
    example: example(
      `embed --model ./all-MiniLM-L6-v2 --target onnx:cpu "${sentence}"`,
      `./all-MiniLM-L6-v2 · fp32 · 384 dimensions · onnx:cpu\n${sentence}   [ 0.1287, -0.0327, -0.0229, … ]\n...`,
    ),
    links: "[choosing a backend](../../guide/choosing-a-backend.md), [tuning](../../guide/tuning.md)",
  },
  xla: {
    summary:
      "XLA compiles the graphs of [our own engine](../../guide/own-engine.md) for CPUs, GPUs and TPUs. The compiler is a PJRT plugin, a shared library that OpenXLA and JAX publish; no Python is needed.",
    installation: [
      [
        "Linux, x86-64",
        "`npm install koffi --ignore-scripts` and `inferyard backends install xla` (`--accelerator cpu`, `cuda12`, `cuda13`, `rocm7` or `tpu`); or a plugin that is there already, by `PJRT_PLUGIN_LIBRARY_PATH` or the setting `xla.plugin`",
      ],
      ["Linux, arm64; macOS", "the same, where a plugin is published for it; none was tried"],
      ["Windows", "no plugin is published"],
    ],
    devices:
      "The tests run `xla:cpu` with a plugin from PyPI; `xla:cuda` was tried on an NVIDIA H200, `xla:rocm` and `xla:tpu` were not.",
    proof:
      "`doctor` compiles and runs a tiny program with known answers on each device, in a child process. The evidence of a model names the device in the plugin's own words, the plugin, the number of operations that XLA compiled, the shapes to which inputs are padded, and on GPUs the bytes of the device's memory in use before and after the load. ONNX's conformance cases run on it ([conformance](../conformance.md)).",
    example: example(
      `embed --model ./all-MiniLM-L6-v2 --target xla:cpu "${sentence}"`,
      `./all-MiniLM-L6-v2 · fp32 · 384 dimensions · xla:cpu\n${sentence}   [ 0.1287, -0.0327, -0.0229, … ]\n1 text in 86 ms · --json for all numbers`,
      "<!-- not run: it needs a PJRT plugin -->",
    ),
    links:
      "[XLA](../../guide/xla.md), [the section xla of the settings](../configuration.md#the-section-xla), [decision 0025](../../decisions/0025-xla.md)",
  },
  llamacpp: {
    summary:
      "llama.cpp, through the package node-llama-cpp, runs GGUF models: language models, and encoders for embeddings and reranking.",
    installation: [
      [
        "Linux, x86-64 and arm64",
        "`npm install node-llama-cpp --ignore-scripts`; builds for the CPU, CUDA and Vulkan come as packages with it",
      ],
      ["macOS", "`npm install node-llama-cpp --ignore-scripts`; Metal is part of it on Apple silicon"],
      ["Windows", "`npm install node-llama-cpp --ignore-scripts`; builds for the CPU, CUDA and Vulkan come with it"],
    ],
    devices: "The tests run it on the CPU; accelerators were not tried.",
    proof:
      "Before a first model is loaded, and in `doctor`, a tiny model with weights in the same types is computed and compared with a plain decoder of Inferyard's. The evidence has llama.cpp's own account of the devices and the layers on them.",
    example: example(
      `generate --model ./tinyllm/tinyllm.gguf --target llamacpp:cpu --max-new-tokens 40 "Once upon a time"`,
      ", there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball.\n...",
    ),
    links: "[GGUF](../../guide/gguf.md), [generating](../../guide/generating.md)",
  },
  native: {
    summary:
      "Inferyard's own engine: a compiler from a model to kernels in WebAssembly, always there. It runs ONNX models, transformers from safetensors and GGUF, and static embeddings such as `builtin`; on Linux with x86-64 kernels run as [machine code](../../guide/machine-code.md) that it generates itself.",
    installation: [["all, and in pages", "nothing: WebAssembly with SIMD is part of Node.js and of browsers"]],
    devices: "It computes on the CPU alone.",
    proof:
      "Kernels are compared with an interpreter when they are first used and in `doctor`, the interpreter with known answers; what passed is remembered for the same build and processor ([decision 0022](../../decisions/0022-remembered-self-tests.md)). ONNX's conformance cases run on it ([operators](../operators.md)). The evidence says how many operations had a kernel, and how often each ran.",
    example: example(`embed --target native:cpu "${sentence}"`, `builtin · 256 dimensions · native:cpu\n${sentence}   [ …\n...`),
    links: "[our own engine](../../guide/own-engine.md), [kernels](../kernels.md)",
  },
  wasm: {
    summary: "ONNX Runtime's WebAssembly build runs ONNX models where no native library can be used, and in pages.",
    installation: [["all, and in pages", "`npm install onnxruntime-web`; it has no native part"]],
    devices: "It computes on the CPU alone.",
    proof:
      "`doctor` runs a tiny graph with a known answer. There is one execution provider in this build, so that nothing can run elsewhere.",
    example: example(
      `embed --model ./all-MiniLM-L6-v2 --target wasm:cpu "${sentence}"`,
      `./all-MiniLM-L6-v2 · fp32 · 384 dimensions · wasm:cpu\n${sentence}   [ 0.1287, -0.0327, -0.0229, … ]\n...`,
    ),
    links: "[choosing a backend](../../guide/choosing-a-backend.md), [in a browser](../../guide/browser.md)",
  },
  library: {
    summary:
      "A llama.cpp library of your own (`libllama`) runs GGUF language models, through its C interface. It is in no default order: it is used where you ask for it, or where no other backend can run a model.",
    installation: [
      [
        "Linux, macOS and Windows",
        "`npm install koffi --ignore-scripts`, and a build of llama.cpp as a shared library: the setting `library`, `--library`, or `LLAMA_CPP_DIR` with its folder",
      ],
    ],
    devices: "The tests run it on the CPU of Linux on x86-64, with several releases of llama.cpp; accelerators were not tried.",
    proof:
      "The library's file is read before it is loaded, its functions and the layout of its structs are proved in a child process, and a tiny model is compared with a plain decoder of Inferyard's, with forks and truncations. The evidence has the digests of all files that it loads.",
    example: example(
      `generate --model ./tinyllm/tinyllm.gguf --target library --library ./node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libllama.v0.5.0.so --max-new-tokens 40 "Once upon a time"`,
      ", there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball.\n...",
    ),
    links: "[a llama.cpp library of your own](../../guide/own-library.md), [native libraries](../../guide/native-libraries.md)",
  },
};
