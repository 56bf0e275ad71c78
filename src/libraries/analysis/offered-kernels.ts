/** Which kernels of the registry a library's functions are, by the ids that `kernels` lists, preferences take and receipts have. */
import { ggmlKernelId, llamaKernelId } from "../../kernels/kernel-ids.ts";
import { kernelById } from "../../kernels/registry.ts";
import type { BinarySymbol } from "../binaries/index.ts";
import type { OfferedKernel } from "./library-analysis.ts";

/** Functions of ggml's CPU backend that multiply rows of a type: `ggml_vec_dot_q4_K_q8_K`. Those that end in `_generic` are what the others are held against. */
const rowProduct = /^ggml_vec_dot_(\w+?)(?:_q8_(?:0|1|K))?$/;
const generic = /_generic$/;

/** Functions that begin computing on a device, and its type. */
const devices: Readonly<Record<string, string>> = { llama_decode: "cpu", ggml_backend_cuda_init: "cuda" };

/** The kernels that the exported functions are, in the order of the symbols, each once. Whether they compute rightly, only a test tells. */
export function offeredKernels(symbols: readonly BinarySymbol[]): readonly OfferedKernel[] {
  const found = new Map<string, OfferedKernel>();
  for (const { name, isExported, type } of symbols) {
    if (!isExported || type === "object") continue;
    const id = idOf(name);
    if (id !== undefined && kernelById(id) !== undefined && !found.has(id)) found.set(id, { id, symbol: name });
  }
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function idOf(name: string): string | undefined {
  const device = devices[name];
  if (device !== undefined) return llamaKernelId({ type: device, index: 0 });
  const type = generic.test(name) ? undefined : rowProduct.exec(name)?.[1];
  return type === undefined ? undefined : ggmlKernelId(type.toUpperCase());
}
