/** Which kind of device a PJRT plugin computes on, as its tables and texts tell. Its file name says nothing. */
import type { BinaryFile } from "../../../libraries/binaries/index.ts";

/** A kind of device, and the reason for it. */
export interface PluginKind {
  /** Type of the devices, as targets name it: "cpu", "cuda", "rocm" or "tpu"; another name for devices that this backend does not use. */
  readonly deviceType: string;
  /** What in the file shows the kind, as a sentence without a full stop. */
  readonly evidence: string;
}

interface Rule {
  readonly deviceType: string;
  /** Names of sections: device code lies in sections of its own. */
  readonly section?: RegExp;
  /** Names of exported functions. */
  readonly exported?: RegExp;
  /** Names of needed libraries. */
  readonly needed?: RegExp;
  /** Folders of the run path. */
  readonly runPath?: RegExp;
}

/** In the order in which they are tried. ROCm's libraries have the names of CUDA's, with another prefix. */
const rules: readonly Rule[] = [
  {
    deviceType: "rocm",
    section: /^\.hip_?fatbin/i,
    needed: /^lib(?:amdhip64|hsa-runtime64|rocblas|hipblas|MIOpen|rccl)/,
    runPath: /\brocm\b/,
  },
  {
    deviceType: "cuda",
    section: /^\.nv_?fatbin/i,
    needed: /^lib(?:cuda|cudart|cublas|cublasLt|cudnn|cusparse|cusolver|cufft|nccl)\.so/,
    runPath: /\bnvidia\/|\bcuda\b/,
  },
  { deviceType: "tpu", exported: /^(?:GetTpuPjrtApi|GetLibtpuSdkApi|TfTpu_\w+|Tpu[A-Z]\w+_\w+)$/, needed: /^libtpu\b/ },
  { deviceType: "oneapi", needed: /^lib(?:sycl|ze_loader|OpenCL|mkl_sycl)/ },
  { deviceType: "neuron", needed: /^libn(?:rt|ccom)\.so/ },
  { deviceType: "metal", needed: /\bMetal(?:PerformanceShaders\w*)?\.framework\b|\/Metal$/ },
];

/** The kind according to the tables of the file; undefined where they do not show it, as in CPU plugins. */
export function kindByTables({ sections, symbols, needed, rpath, runpath }: BinaryFile): PluginKind | undefined {
  const exported = symbols.filter(({ isExported }) => isExported).map(({ name }) => name);
  for (const { deviceType, ...rule } of rules) {
    const sources: [RegExp | undefined, readonly string[], string][] = [
      [rule.section, sections, "it has the section"],
      [rule.exported, exported, "it exports"],
      [rule.needed, needed, "it needs"],
      [rule.runPath, [...rpath, ...runpath], "its run path has"],
    ];
    for (const [pattern, names, verb] of sources) {
      const name = names.find((each) => pattern?.test(each));
      if (name !== undefined) return { deviceType, evidence: `${verb} ${name}` };
    }
  }
  return undefined;
}

/** Options of clients, which plugins hold as texts: the first names a CPU plugin, the second a plugin for GPUs. */
const clientOptions: readonly { readonly deviceType: string; readonly option: string }[] = [
  { deviceType: "cpu", option: "cpu_device_count" },
  { deviceType: "cuda", option: "libcuda.so.1" },
  { deviceType: "rocm", option: "libamdhip64.so" },
];

/** The kind according to the texts of the plugin's read-only data; undefined if none shows it. */
export function kindByTexts(readOnlyData: Buffer): PluginKind | undefined {
  const found = clientOptions.find(({ option }) => readOnlyData.includes(option, 0, "latin1"));
  return found === undefined ? undefined : { deviceType: found.deviceType, evidence: `it holds the text ${found.option}` };
}

/** Major version of CUDA by the folders that a plugin's run path names: nvidia/cu13/lib since CUDA 13, nvidia/cublas/lib before. */
export function cudaMajor({ rpath, runpath }: BinaryFile): number | undefined {
  const folders = [...rpath, ...runpath];
  const stated = folders.map((folder) => /\bnvidia\/cu(\d+)\b/.exec(folder)?.[1]).find((major) => major !== undefined);
  if (stated !== undefined) return Number(stated);
  return folders.some((folder) => /\bnvidia\/cu(?:blas|da_runtime|dnn)\/lib/.test(folder)) ? 12 : undefined;
}
