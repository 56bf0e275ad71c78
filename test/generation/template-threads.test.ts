/** Threads that render chat templates: what takes too long or too much ends alone, and models do not wait for one another. */
import { describe, expect, it } from "vitest";
import { TemplateThreads } from "../../src/tasks/text-threads/template-threads.ts";

const program = new URL("fixtures/greedy-template-thread.mjs", import.meta.url);
const threads = (timeoutMs: number): TemplateThreads => new TemplateThreads({ timeoutMs, heapMebibytes: 64, program });
const call = (source: string, variables = "x") => ({ source, variables, now: 0 });

describe("threads for chat templates", () => {
  it("serve other models while those of one run without end", async () => {
    const pool = threads(60_000);
    const [hostile, honest] = [{}, {}];
    const endless = Promise.allSettled(Array.from({ length: 3 }, () => pool.render(hostile, call("time"))));
    const texts = await Promise.all(Array.from({ length: 50 }, (_, index) => pool.render(honest, call("a", `${index}`))));
    expect(texts).toEqual(texts.map((_, index) => `${index}`));
    await pool.dispose();
    expect((await endless).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await expect(pool.render(honest, call("a"))).rejects.toMatchObject({ code: "DISPOSED" });
  });

  it("leave one to other models while several that were slow run without end", async () => {
    const pool = threads(60_000);
    const slow = Array.from({ length: 4 }, () => ({}));
    for (const model of slow) await pool.render(model, call("slow"));
    const endless = Promise.allSettled(slow.map((model) => pool.render(model, call("time"))));
    expect(await pool.render({}, call("a"))).toBe("x");
    await pool.dispose();
    expect((await endless).map(({ status }) => status)).toEqual(slow.map(() => "rejected"));
  });

  it("end one that takes too long", async () => {
    const pool = threads(500);
    await expect(pool.render({}, call("time"))).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: "the model's chat template takes longer than 500 ms",
      data: { bound: "milliseconds", limit: 500 },
    });
    await pool.dispose();
  });

  it("let models take turns", async () => {
    const pool = threads(60_000);
    pool.prepare();
    const order: string[] = [];
    const [first, second, third] = [{}, {}, {}];
    const ask = (model: object, name: string): Promise<unknown> =>
      pool.render(model, call("a", name)).then((text) => order.push(text));
    const many = Array.from({ length: 200 }, () => [ask(first, "first"), ask(second, "second")]).flat();
    await Promise.all([ask(third, "third"), ...many]);
    expect(order.indexOf("third")).toBeLessThan(100);
    await pool.dispose();
  });

  it("end one that takes too much memory, and tell of a thread that ended by itself", async () => {
    const pool = threads(60_000);
    await expect(pool.render({}, call("memory"))).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: "the model's chat template takes more than 64 MiB of memory",
      data: { bound: "heapMebibytes", limit: 64 },
    });
    await expect(pool.render({}, call("end"))).rejects.toMatchObject({ code: "HOST_DIED" });
    expect(await pool.render({}, call("a"))).toBe("x");
    await pool.dispose();
  });

  it("queue so many conversations of one model, and no more", async () => {
    const pool = threads(60_000);
    const hostile = {};
    const all = Array.from({ length: 300 }, () => pool.render(hostile, call("time")));
    const settled = Promise.allSettled(all);
    await expect(all.at(-1)).rejects.toMatchObject({ code: "QUEUE_FULL", retryAfterMs: 1000 });
    expect(await pool.render({}, call("a"))).toBe("x");
    await pool.dispose();
    await settled;
  });
});
