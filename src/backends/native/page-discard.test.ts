import { expect, it } from "vitest";
import { wasmHost } from "../../engine/codegen/wasm/index.ts";
import { ForeignFunctions } from "../../libraries/ffi/index.ts";
import { openPageDiscard } from "./page-discard.ts";

const hasKoffi = await ForeignFunctions.load().then(
  () => true,
  () => false,
);

it.skipIf(process.platform !== "linux" || !hasKoffi).each([false, true])(
  "pages of a WebAssembly memory go back to the system and read as zeros, those beside them stay; shared: %s",
  async (shared) => {
    const discard = await openPageDiscard?.();
    const { Memory } = wasmHost();
    const memory = new Memory(shared ? { initial: 256, maximum: 65_536, shared } : { initial: 256 });
    const bytes = new Uint8Array(memory.buffer).fill(1);
    const [start, length] = [4096, 200 * 65_536];
    const held = process.memoryUsage.rss();
    discard?.(memory.buffer, start, length);
    expect(held - process.memoryUsage.rss()).toBeGreaterThan(length / 2);
    expect(bytes[start - 1]).toBe(1);
    expect(bytes.subarray(start, start + length).every((value) => value === 0)).toBe(true);
    expect(bytes[start + length]).toBe(1);
  },
);

it.skipIf(process.platform === "linux")("other systems have no such call", async () => {
  expect(await openPageDiscard?.()).toBeUndefined();
});
