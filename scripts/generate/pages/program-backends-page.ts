/** docs/reference/program-backends.md: the names of backends of programs, from their table. */
import { backendNames, documentNames } from "../../../src/programs/backends/backend-names.ts";

/** The file of the page. */
export const programBackendsPage: URL = new URL("../../../docs/reference/program-backends.md", import.meta.url);

/** How to install what backends require, by its name in the table. */
const installations: Readonly<Record<string, string>> = {
  "a BLAS":
    "`apt-get install libopenblas0-pthread`, `pip install scipy-openblas32`, or a file that `INFERYARD_BLAS_LIBRARY` names",
  "a BLAS that uses OpenMP": "`apt-get install libopenblas0-openmp`, or MKL",
  MKL: "`pip install mkl`",
  oneDNN: "`pip install onednn-cpu-gomp`",
  NVRTC: "`pip install nvidia-cuda-nvrtc-cu12 nvidia-cublas-cu12` (cuBLAS is the second), or NVIDIA's CUDA toolkit",
  koffi: "`npm install koffi --ignore-scripts`",
  "a PJRT plugin": "`inferyard backends install xla`",
  "a PJRT plugin for CUDA": "`inferyard backends install xla --accelerator cuda13`",
};

/** The text of the page. */
export function programBackendsText(): string {
  const rows = backendNames.map(({ name, displayName, computedBy, requiresGpu, requiredLibraries, note }) => {
    const origin = documentNames.includes(name) ? "document" : "own";
    const needs = [...(requiresGpu ? ["a GPU"] : []), ...requiredLibraries].join(", ");
    return `| \`${name}\` | ${displayName} | ${origin} | ${computedBy === undefined ? "–" : `\`${computedBy}\``} | ${needs || "nothing"} | ${note} |`;
  });
  const installed = Object.entries(installations).map(([name, command]) => `- ${name}: ${command}`);
  return `# Backends of programs

Written by \`npm run schemas\` from the table of the code. [Programs](../guide/programs.md) are compiled for one of these names. "document" are the fourteen names of YiRage's design document; what computes under a name may be another backend.
\`getBackendInfo(name)\` of \`inferyard/program\` says the same, and what was found on this machine.

| name | | of | computed by | requires | |
|---|---|---|---|---|---|
${rows.join("\n")}

What is missing is installed so:

${installed.join("\n")}

Tested without a GPU alone: \`cuda\`. Its kernels agree with the interpreter on an emulated GPU, and NVIDIA's compiler compiles them; XLA computes on NVIDIA GPUs under \`xla:cuda\`.
`;
}
