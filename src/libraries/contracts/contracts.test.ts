import { describe, expect, it } from "vitest";
import { readField, writeField } from "../ffi/index.ts";
import { contracts, llamaLayouts, missingFunctions } from "./index.ts";

/** Bytes that `llama_context_default_params` of b10068 wrote over a buffer of 0xa5, by koffi, in node-llama-cpp 3.19.1. */
const b10068 =
  "0002000000080000 0002000001000000 0000000000000000 0400000004000000 00000000ffffffff ffffffffffffffff ffffffff00000000 00000000000080bf " +
  "000080bf000080bf 000080bf00000000 000080bfa5a5a5a5 0000000000000000 0000000000000000 0100000001000000 0000000000000000 0000000000000000 " +
  "000101010100a5a5 0000000000000000 0000000000000000 0000000000000000";

describe("layouts of llama.cpp", () => {
  it("have the sizes that the compilers of the releases give them", () => {
    const sizes = (name: keyof typeof llamaLayouts) => llamaLayouts[name].map(({ release, size }) => `${release} ${size}`);
    expect(sizes("modelParams")).toEqual([
      "b3889 64",
      "b4234 72",
      "b4600 64",
      "b5415 72",
      "b6133 72",
      "b7347 72",
      "b7769 72",
      "b10603 72",
      "b11227 80",
    ]);
    expect(sizes("contextParams")).toEqual([
      "b3889 120",
      "b5415 120",
      "b5640 120",
      "b6133 120",
      "b6673 120",
      "b7769 136",
      "b9445 144",
      "b10068 160",
      "b10603 160",
      "b11739 168",
    ]);
    expect(sizes("batch")).toEqual(["b3889 72", "b4234 56"]);
  });

  it("place fields where a release wrote them", () => {
    const layout = llamaLayouts.contextParams.find(({ release }) => release === "b10068");
    if (layout === undefined) throw new Error("b10068 is not in the table");
    const bytes = Uint8Array.from(Buffer.from(b10068.replaceAll(" ", ""), "hex"));
    expect(bytes).toHaveLength(layout.size);
    for (const [name, { values }] of Object.entries(layout.fields)) expect(values).toContain(readField(layout, bytes, name));
    writeField(layout, bytes, "n_ctx", 4096);
    expect(new DataView(bytes.buffer).getUint32(0, true)).toBe(4096);
  });
});

it("names the functions that a library lacks, by all their names", () => {
  const modern = contracts.llama.required.map((names) => names[0] ?? "");
  expect(missingFunctions(contracts.llama, (name) => modern.includes(name))).toEqual([]);
  const old = contracts.llama.required.map((names) => names.at(-1) ?? "");
  expect(missingFunctions(contracts.llama, (name) => old.includes(name))).toEqual([]);
  expect(missingFunctions(contracts.llama, (name) => modern.includes(name) && name !== "llama_memory_seq_rm")).toEqual([
    ["llama_memory_seq_rm", "llama_kv_self_seq_rm", "llama_kv_cache_seq_rm"],
  ]);
});
