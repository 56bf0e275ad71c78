/** @isolated since onnxruntime-web is loaded once in a process, from where its first user says */
import { expect, it } from "vitest";
import { scriptedMachine } from "../../testing/index.ts";
import { wasm } from "./backend.ts";

it("looks for the engine's own files where `assets` says", async () => {
  const found = await wasm({ assets: "file:///nowhere/" }).probe({ machine: scriptedMachine(), run: true });
  expect(found).toMatchObject({
    present: true,
    devices: [{ state: "absent", reason: expect.stringContaining("/nowhere/ort-wasm-simd-threaded.mjs") }],
  });
});
