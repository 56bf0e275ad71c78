/** The thread that is started while the files of a runtime's first model are read. */
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { createRuntime } from "inferyard";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const started: Worker[] = [];
const ended: Worker[] = [];
const onWorker = (worker: Worker): void => {
  started.push(worker);
  worker.on("exit", () => ended.push(worker));
};
beforeEach(() => {
  started.length = 0;
  ended.length = 0;
  process.on("worker", onWorker);
});
afterEach(() => process.off("worker", onWorker));

const builtin = new URL("../../builtin/", import.meta.url).pathname;
const isUsed = availableParallelism() > 1;
const [skip, name] = needsData("a thread that is started before its model is known");
describe.skipIf(skip)(name, () => {
  it("is the model's, if that needs one", async () => {
    const runtime = await createRuntime();
    const model = `${sharedData}minilm-l3-ner`;
    const handle = await runtime.load(model, { target: "onnx:cpu" });
    expect(started).toHaveLength(1);
    expect(handle.decision.selected?.host).toBe("worker");
    await handle.dispose();
    await runtime.dispose();
    await expect.poll(() => ended.length).toBe(1);
  });

  it("is ended after the load of a model that lives inline, and after one that fails; later loads start none", async () => {
    const runtime = await createRuntime();
    const { decision } = await runtime.embed("hello", { model: builtin });
    expect(decision.selected?.host).toBe("inline");
    expect(started).toHaveLength(isUsed ? 1 : 0);
    await expect.poll(() => ended.length).toBe(started.length);
    const before = started.length;
    await expect(runtime.load("/no/such/model")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(started).toHaveLength(before);
    await runtime.dispose();
    const other = await createRuntime();
    await expect(other.load("/no/such/model")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    await other.dispose();
    await expect.poll(() => ended.length).toBe(started.length);
  });

  it("is not started for builtin, nor where models live on the calling thread or in processes", async () => {
    const byDefault = await createRuntime();
    await byDefault.embed("hello");
    await byDefault.dispose();
    const inline = await createRuntime({ host: "inline" });
    await inline.embed("hello", { model: builtin });
    await inline.dispose();
    expect(started).toEqual([]);
  });
});
