/** Models that run the plans of an earlier process. */
import { rmSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { filesIn, load, type Loaded, rows, save, use, useKeptModel } from "../../../../test/engine/fixtures/kept-model.ts";

useKeptModel();

describe("a model whose plans an earlier process kept", () => {
  it("gives the same bits, with and without a plan for the inputs, and keeps the plans that it lacked", async () => {
    const [isRestored, outputs] = await use([3, 20]);
    expect(isRestored).toBe(false);
    expect(await use([3, 20, 3])).toEqual([true, [...outputs, outputs[0]]]);
    const [, [others]] = await use([5], { graphOptimization: "all" }); // other settings: other plans
    expect(await use([5, 3])).toEqual([true, [others, outputs[0]]]);
    const { model: last } = await load();
    expect(await last.run(rows(5))).toEqual(others);
    expect((await last.evidence()).join()).toContain("plans and packed weights: from the cache on disk");
    await last.dispose();
  });

  it("has the inputs, outputs, counts and memory of the model that was loaded", async () => {
    const facts = async ({ model: loaded }: Loaded): Promise<object> => {
      await loaded.run(rows(3));
      const { inputs, outputs, kernelCounts, memory } = loaded;
      const evidence = await loaded.evidence();
      const result = { inputs, outputs, counts: await kernelCounts?.(), measure: memory?.measure, first: evidence[0] };
      await loaded.dispose();
      return result;
    };
    const first = await facts(await load());
    const later = await load();
    expect(later.isRestored).toBe(true);
    expect(await facts(later)).toEqual(first);
  });

  it("runs machine code of the cache, and is loaded as if nothing were kept where that is gone", async () => {
    const [, outputs] = await use([3], { engine: { machineCode: "avx2" } });
    const again = async (): Promise<unknown> => await use([3], { engine: { machineCode: "avx2" } });
    expect(await again()).toEqual([true, outputs]);
    const hasMachineCode = process.platform === "linux" && process.arch === "x64";
    if (hasMachineCode) for (const file of filesIn("machine-code")) rmSync(file);
    expect(await again()).toEqual([!hasMachineCode, outputs]);
  });

  it("refuses inputs without a plan when its file was written after the load", async () => {
    const [, outputs] = await use([3]);
    const { model: loaded } = await load();
    save(2);
    expect(await loaded.run(rows(3))).toEqual(outputs[0]);
    await expect(loaded.run(rows(5))).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: /was changed after it was loaded/,
    });
    expect(await loaded.run(rows(3))).toEqual(outputs[0]);
    await loaded.dispose();
  });

  it("is kept when it has been idle for a moment, without a disposal", async () => {
    const { model: loaded } = await load();
    await loaded.run(rows(3));
    await vi.waitFor(() => expect(filesIn("plans")).toHaveLength(2), { timeout: 5000 });
    expect((await use([3]))[0]).toBe(true);
    await loaded.dispose();
  });
});
