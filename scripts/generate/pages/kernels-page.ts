/** docs/reference/kernels.md, made from the kernel registry. `npm run schemas` writes it. */
import type { KernelEntry } from "../../../src/kernels/kernel-entry.ts";
import { kernelRegistry } from "../../../src/kernels/registry.ts";

export const kernelsPage: URL = new URL("../../../docs/reference/kernels.md", import.meta.url);

const built: Readonly<Record<Exclude<KernelEntry["implementation"]["kind"], "none">, string>> = {
  machine: "yes, generated machine code, on Linux",
  wasm: "yes, generated WebAssembly",
  scalar: "yes, plain TypeScript",
  llama: "yes, by the backend `llamacpp`",
};

const machines: Readonly<Record<KernelEntry["level"], string>> = {
  scalar: "any",
  "wasm-simd128": "any with SIMD in WebAssembly",
  "wasm-relaxed-simd": "any with relaxed SIMD in WebAssembly",
  "SSE4.2": "x86-64",
  AVX2: "x86-64 with AVX2 and FMA",
  "AVX-512": "x86-64 with AVX-512 F, BW and VL",
  "AVX-512 VNNI": "x86-64 with AVX-512 F, BW, VL and VNNI",
  NEON: "arm64",
  "NEON dotprod": "arm64 with DOTPROD",
  CUDA: "an NVIDIA GPU",
};

/** The text of the page. */
export function kernelsText(): string {
  const rows = kernelRegistry.map(({ id, formats, level, implementation, columnMultiple, tolerance }) => {
    const state = implementation.kind === "none" ? `no: ${implementation.reason}` : built[implementation.kind];
    const tests = implementation.kind === "none" || implementation.kind === "llama" ? "" : tolerance.toExponential(1);
    const format = formats === "any" ? "all of llama.cpp" : formats.join(", ");
    return `| \`${id}\` | ${format} | ${level} | ${machines[level]} | ${columnMultiple} | ${state} | ${tests} |`;
  });
  return `# Kernels for quantized weights

<!-- Written by \`npm run schemas\` from src/kernels/registry.ts. -->

Every kernel that the registry knows: \`inferyard kernels\` says which of them run on this machine ([guide](../guide/kernels.md)). "Level" is the instruction set, in the order scalar,
wasm-simd128, wasm-relaxed-simd, SSE4.2, AVX2, AVX-512, AVX-512 VNNI, and NEON, NEON dotprod. "K" is what the columns of the weights must be a multiple of. "Tolerance" is that of the known-answer test, as a fraction of
the square root of the sum of (weight x largest activation of its group)^2.

| kernel | format | level | machine | K | built | tolerance |
|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
}
