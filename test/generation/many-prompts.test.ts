/** Calls with many prompts or texts: Node.js has nothing to warn of, and nothing is left on the caller's signal. */
import { getEventListeners } from "node:events";
import { createRuntime } from "inferyard";
import { describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("calls of many prompts");

describe.skipIf(skip)(title, () => {
  it("40 prompts, and 40 calls on one signal, wait with one listener", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    try {
      await using runtime = await createRuntime({ target: "onnx", host: "inline", threads: 1 });
      const { signal } = new AbortController();
      const request = { model: `${sharedData}tiny-random-llama`, maxNewTokens: 2, signal };
      const prompts = Array.from({ length: 40 }, (_, index) => `Hello ${index}`);
      expect((await runtime.generate(prompts, request)).results).toHaveLength(40);
      await Promise.all(prompts.map((prompt) => runtime.generate(prompt, request)));
      await Promise.all(prompts.map((text) => runtime.embed(text, { signal, model: `${sharedData}tiny-random-colbert` })));
      await new Promise((resolve) => setImmediate(resolve)); // warnings are told in the next tick
      expect(getEventListeners(signal, "abort")).toEqual([]);
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", note);
    }
  });
});
