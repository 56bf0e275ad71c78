/** What a library computes with: the CPU alone, or an accelerator, by what it imports, exports, needs and contains. */
import { abbreviatedList } from "../../contract/errors.ts";
import type { BinaryFile } from "../binaries/index.ts";
import type { LibraryAcceleratorName, ComputeVerdict, IndirectNeed } from "./library-analysis.ts";

/** How the use of an accelerator shows in the tables of a library. */
interface AcceleratorRule {
  readonly name: LibraryAcceleratorName;
  readonly title: string;
  /** File names of its libraries, in lower case, without folders. */
  readonly library: RegExp;
  /** Functions of its interface. */
  readonly api?: RegExp;
  /** Exports of libraries that offer it. */
  readonly exported?: RegExp;
  /** Sections that hold its machine code. */
  readonly section?: RegExp;
}

const accelerators: readonly AcceleratorRule[] = [
  {
    name: "cuda",
    title: "CUDA",
    library:
      /^(?:lib)?(?:cudart|cuda|nvcuda|cublas|cublaslt|cudnn|cufft|curand|cusparse|cusparselt|cusolver|nvrtc|nvjitlink|nccl|ggml-cuda|torch_cuda)(?:[-_.\d]|$)/,
    api: /^(?:cuda[A-Z]\w*|__cuda[A-Z]\w*|cu(?:Init|Mem|Ctx|Device|Launch|Module|Library|Kernel|Stream|Event|Func|Graph|Link|Driver|GetError|GetProc)\w*|(?:cublas|cudnn|cusparse|cusolver|cufft|curand|nccl)[A-Z]\w*)$/,
    exported: /^ggml_backend_cuda_/,
    section: /^\.?(?:__nv_|nv_fatb|nvFatBin)/,
  },
  {
    name: "rocm",
    title: "ROCm",
    library: /^(?:lib)?(?:amdhip64|hipblas|hipblaslt|rocblas|miopen|rccl|ggml-hip)(?:[-_.\d]|$)/,
    api: /^hip[A-Z]\w*$/,
    section: /^\.hip_fatbin/,
  },
  {
    name: "vulkan",
    title: "Vulkan",
    library: /^(?:libvulkan|vulkan-1|libggml-vulkan|ggml-vulkan)(?:[-_.\d]|$)/,
    api: /^vk[A-Z]\w*$/,
    exported: /^ggml_backend_(?:vk|kompute)_/,
  },
  {
    name: "metal",
    title: "Metal",
    library: /^(?:metal|libggml-metal\b.*)$/,
    api: /^MTL[A-Z]\w*$/,
    exported: /^ggml_backend_metal_/,
  },
  { name: "directml", title: "DirectML", library: /^directml\.dll$/, api: /^DMLCreateDevice/ },
  {
    name: "opencl",
    title: "OpenCL",
    library: /^(?:lib)?(?:opencl|ggml-opencl)(?:[-_.\d]|$)/,
    api: /^cl(?:Get|Create|Enqueue)[A-Z]\w*$/,
  },
  {
    name: "level-zero",
    title: "Level Zero",
    library: /^(?:lib)?(?:ze_loader|sycl|ggml-sycl)(?:[-_.\d]|$)/,
    api: /^ze[A-Z]\w+[A-Z]\w*$/,
  },
];

/** Names of accelerators, for messages. */
export const acceleratorTitles: ReadonlyMap<LibraryAcceleratorName, string> = new Map(
  accelerators.map(({ name, title }) => [name, title]),
);

/** A backend that ggml loads while the library runs. */
export interface LoadedBackend {
  /** File name of the backend. */
  readonly name: string;
  readonly binary: BinaryFile;
}

/** Other files that may bring in an accelerator: indirect dependencies, and backends of ggml. */
export interface OtherParts {
  readonly indirectNeeds: readonly IndirectNeed[];
  readonly backends: readonly LoadedBackend[];
}

/** The processors and accelerators that the library computes with. */
export function computeVerdict(binary: BinaryFile, { indirectNeeds, backends }: OtherParts): ComputeVerdict {
  const found = accelerators
    .map((rule) => ({
      name: rule.name,
      reasons: [...getEvidence(rule, binary), ...indirectEvidence(rule, indirectNeeds), ...backendEvidence(rule, backends)],
    }))
    .filter(({ reasons }) => reasons.length > 0);
  const isCuda = found.some(({ name }) => name === "cuda");
  return {
    accelerators: found.map(({ name }) => name),
    reasons: [
      ...found.flatMap(({ reasons }) => reasons),
      ...(isCuda ? [] : ["no CUDA function is imported or exported, no CUDA library is needed, no CUDA code is inside"]),
    ],
    notes: isCuda ? [] : onnxRuntimeNotes(binary),
  };
}

/** Evidence from indirect dependencies: the first library of the accelerator that a dependency needs. Further libraries would add no information. */
function indirectEvidence({ library }: AcceleratorRule, needs: readonly IndirectNeed[]): string[] {
  const first = needs.find(({ name }) => library.test(fileName(name)));
  return first === undefined ? [] : [`needs ${first.neededBy}, which needs ${first.name}`];
}

function backendEvidence(rule: AcceleratorRule, backends: readonly LoadedBackend[]): string[] {
  return backends.flatMap(({ name, binary }) => {
    const [reason] = getEvidence(rule, binary);
    return reason === undefined ? [] : [`loads ${name} from its folder, which ${reason}`];
  });
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase();
}

function getEvidence({ title, library, api, exported, section }: AcceleratorRule, binary: BinaryFile): string[] {
  const names = (wanted: (symbol: BinaryFile["symbols"][number]) => boolean): string[] =>
    binary.symbols.filter(wanted).map(({ name }) => name);
  const imports = names(({ isImported, name }) => isImported && api?.test(name) === true);
  const exports = names(({ isExported, name }) => isExported && (api?.test(name) === true || exported?.test(name) === true));
  const libraries = binary.needed.filter((name) => library.test(fileName(name)));
  const sections = binary.sections.filter((name) => section?.test(name) === true);
  return [
    ...(imports.length === 0 ? [] : [`imports ${count(imports, `${title} function`)}`]),
    ...(exports.length === 0 ? [] : [`exports ${count(exports, `function`)} of ${title}`]),
    ...(libraries.length === 0 ? [] : [`needs ${abbreviatedList(libraries)}`]),
    ...(sections.length === 0 ? [] : [`contains ${title} code: section ${sections.join(", ")}`]),
  ];
}

function count(names: readonly string[], noun: string): string {
  return `${names.length} ${noun}${names.length === 1 ? "" : "s"} (${abbreviatedList(names)})`;
}

/** Every build of ONNX Runtime for Linux exports the entries of CUDA and TensorRT, contained or not. */
function onnxRuntimeNotes({ symbols }: BinaryFile): string[] {
  const entries = symbols.filter(
    ({ isExported, name }) =>
      isExported && /^OrtSessionOptionsAppendExecutionProvider_(?:CUDA|Tensorrt|ROCM|MIGraphX)$/.test(name),
  );
  if (entries.length === 0) return [];
  return [
    `builds of ONNX Runtime without a provider export its entry too, which proves nothing: ${abbreviatedList(entries.map(({ name }) => name))}`,
  ];
}
