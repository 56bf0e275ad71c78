/** Proves the layouts of structs that a library of llama.cpp returns by value, by having it write them into buffers. Runs code of the library. */
import { type KnownLayout, type LlamaLayout, llamaLayouts } from "../contracts/index.ts";
import type { NativeLibrary } from "../ffi/index.ts";
import { type WrittenStruct, compareLayouts, fittingLayout, poisons, writtenEnd } from "./match-layout.ts";
import { refusal } from "./refusal.ts";

/** Bytes of a buffer that a struct is written into: more than any struct of llama.cpp has. */
const bufferBytes = 8_192;

/**
 * The layouts of the structs of an open llama library. Calls `llama_model_default_params`, `llama_context_default_params` and `llama_batch_init`. A
 * function that returns a struct of more than 16 bytes is given an address to write it to, before its arguments: in rdi (System V ABI for x86-64)
 * or rcx (Microsoft x64), as an argument would be. On other processors the address has a register of its own, and nothing can be proved.
 * Throws LIBRARY_INCOMPATIBLE if no known layout fits.
 */
export function proveLlamaLayout(library: NativeLibrary): LlamaLayout {
  const facts = { path: library.path, contract: "llama", step: "abi" } as const;
  if (process.arch !== "x64") {
    throw refusal({
      ...facts,
      expected: "a processor on which structs that are returned by value can be watched (x86-64)",
      found: process.arch,
      remedy: "use backend llamacpp, whose libraries come with their headers",
    });
  }
  return {
    modelParams: proveDefaults(library, "llama_model_default_params", llamaLayouts.modelParams),
    contextParams: proveDefaults(library, "llama_context_default_params", llamaLayouts.contextParams),
    batch: proveBatch(library),
  };
}

function proveDefaults(library: NativeLibrary, name: string, layouts: readonly KnownLayout[]): KnownLayout {
  const fill = library.bind(name, { result: "void", parameters: ["pointer"] });
  return fitting(
    library,
    name,
    layouts,
    written((buffer) => fill(buffer)),
  );
}

/** `llama_batch_init(tokens, embd, n_seq_max)` allocates the arrays of a batch of token ids, whose addresses differ from call to call. */
function proveBatch(library: NativeLibrary): KnownLayout {
  const name = "llama_batch_init";
  const fill = library.bind(name, { result: "void", parameters: ["pointer", "int32", "int32", "int32"] });
  const free = library.bind("llama_batch_free", {
    result: "void",
    parameters: [{ name: "llama_batch", size: 56, alignment: 8, fields: {} }],
  });
  const { first, second } = written((buffer) => fill(buffer, 4, 0, 1));
  const batch = fitting(library, name, llamaLayouts.batch, { first, second: withAddressesOf(first, second) });
  for (const buffer of [first, second]) free(buffer.slice(0, 56));
  return batch;
}

/** The second buffer, with each 8 bytes that the library wrote as another address in each replaced by those of the first. */
function withAddressesOf(first: Uint8Array, second: Uint8Array): Uint8Array {
  const merged = second.slice();
  for (let offset = 0; offset < first.length; offset += 8) {
    const words = [first, second].map((bytes) => new DataView(bytes.buffer).getBigUint64(offset, true));
    const isAddress = words.every((word) => word >= 0x1_0000n && word < 0x8000_0000_0000n);
    if (isAddress) merged.set(first.subarray(offset, offset + 8), offset);
  }
  return merged;
}

function written(fill: (buffer: Uint8Array) => void): WrittenStruct {
  const first = new Uint8Array(bufferBytes).fill(poisons[0]);
  const second = new Uint8Array(bufferBytes).fill(poisons[1]);
  for (const buffer of [first, second]) fill(buffer);
  return { first, second };
}

function fitting({ path }: NativeLibrary, name: string, layouts: readonly KnownLayout[], struct: WrittenStruct): KnownLayout {
  const comparisons = compareLayouts(layouts, struct);
  const layout = fittingLayout(comparisons);
  if (layout !== undefined) return layout;
  const closest = comparisons.filter(({ differences }) => differences.length === comparisons[0]?.differences.length);
  const [{ layout: shown, differences } = { layout: undefined, differences: [] }] = closest;
  const releases = layouts.map(({ release, size }) => `${release} (${size} bytes)`).join(", ");
  throw refusal({
    path,
    contract: "llama",
    step: "abi",
    expected: `${name} writes ${layouts[0]?.name ?? "a struct"} in one of the known layouts: ${releases}`,
    found:
      differences.length === 0
        ? `${writtenEnd(struct)} bytes that fit several layouts which disagree: ${closest.map((each) => each.layout.release).join(", ")}`
        : `${writtenEnd(struct)} bytes; the closest layout is that of ${shown?.release ?? "none"}, with ${differences.length} differences`,
    details: differences,
    remedy: "use a release of llama.cpp that is in the list, or report the release so that its layout is added",
  });
}
