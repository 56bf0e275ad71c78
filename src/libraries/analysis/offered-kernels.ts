/** Maps exported functions of a library to kernel ids, as used by the command `kernels`, by kernel preferences and in receipts. */
import { ggmlKernelId, llamaKernelId } from "../../kernels/kernel-ids.ts";
import { kernelById } from "../../kernels/registry.ts";
import type { BinarySymbol } from "../binaries/index.ts";
import type { OfferedKernel } from "./library-analysis.ts";

/**
 * Functions of ggml's CPU backend that compute dot products of rows of a type, such as `ggml_vec_dot_q4_K_q8_K`. Functions ending in `_generic` are
 * the reference implementations.
 */
const rowProduct = /^ggml_vec_dot_(\w+?)(?:_q8_(?:0|1|K))?$/;
const generic = /_generic$/;

/** Device types by the exported function that starts computing on the device. */
const devices: Readonly<Record<string, string>> = { llama_decode: "cpu", ggml_backend_cuda_init: "cuda" };

/** Kernels that the exported functions implement, in the order of the symbols, without duplicates. Correctness of a kernel is not tested. */
export function offeredKernels(symbols: readonly BinarySymbol[]): readonly OfferedKernel[] {
  const found = new Map<string, OfferedKernel>();
  for (const { name, isExported, type } of symbols) {
    if (!isExported || type === "object") continue;
    const id = getId(name);
    if (id !== undefined && kernelById(id) !== undefined && !found.has(id)) found.set(id, { id, symbol: name });
  }
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function getId(name: string): string | undefined {
  const device = devices[name];
  if (device !== undefined) return llamaKernelId({ type: device, index: 0 });
  const type = generic.test(name) ? undefined : rowProduct.exec(name)?.[1];
  return type === undefined ? undefined : ggmlKernelId(type.toUpperCase());
}
