/** The KServe protocol over models that judge texts: what it says of a model, and its answers beside those of the runtime. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../src/api/create-runtime.ts";
import { createHandler } from "../../src/server/handler.ts";
import type { Runtime } from "../../src/api/runtime.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

interface Said {
  readonly platform: string;
  readonly properties: object;
  readonly inputs: unknown;
}

const [skip, modelsTitle] = needsData("KServe: models that judge texts");
describe.skipIf(skip)(modelsTitle, () => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
  afterAll(() => runtime.dispose());

  const models = { judge: `${sharedData}tiny-bert-nli-untrained`, ranker: `${sharedData}tiny-random-cross-encoder` };

  async function infer(
    model: string,
    data: readonly string[],
    shape: readonly number[],
    outputs?: string[],
  ): Promise<Record<string, unknown[]>> {
    const body = JSON.stringify({
      inputs: [{ name: "text", datatype: "BYTES", shape, data }],
      outputs: outputs?.map((name) => ({ name })),
    });
    const request = new Request(`http://localhost/v2/models/${model}/infer`, { method: "POST", body });
    const answer = (await (await createHandler(runtime, { models })(request)).json()) as {
      outputs: { name: string; shape: number[]; data: unknown[] }[];
    };
    return Object.fromEntries(answer.outputs.map(({ name, data: values }) => [name, values]));
  }

  it("says what a model takes and gives from its files as from memory, and loads nothing for that", async () => {
    const graph = `${sharedData}tiny-random-vit/onnx/model.onnx`;
    const own = await createRuntime({ host: "inline", threads: 1 });
    try {
      const handler = createHandler(own, { models: { ...models, graph } });
      const describe = async (name: string): Promise<Said> => {
        const headers = { "x-inferyard-target": "require=onnx" };
        const answer = await handler(new Request(`http://localhost/v2/models/${name}`, { headers }));
        return (await answer.json()) as Said;
      };
      for (const [name, reference] of Object.entries({ ...models, graph })) {
        const { properties, platform: _format, ...fromFiles } = await describe(name);
        expect(own.memory().models).toEqual([]);
        await own.use(reference, { target: "onnx:auto" }, async ({ target }) => {
          const { platform: _library, ...fromMemory } = await describe(name);
          expect(fromMemory).toEqual({ ...fromFiles, properties: { ...properties, target } });
        });
        await own.unloadIdle();
      }
    } finally {
      await own.dispose();
    }
  });

  it("gives label and score of each text, as classify does", async () => {
    const texts = ["a cat sits", "nothing at all"];
    const { results } = await runtime.classify(texts, { model: models.judge });
    expect(await infer("judge", texts, [2])).toEqual({
      label: results.map(([first]) => first!.label),
      score: results.map(([first]) => Math.fround(first!.score)),
    });
  });

  it("gives the score of each pair of query and document, as rerank does, in the order given", async () => {
    const pairs = [
      ["what is a cat", "an animal"],
      ["who wrote it", "nobody knows"],
      ["what is a cat", "a planet far away"],
    ] as const;
    const { score } = await infer("ranker", pairs.flat(), [3, 2], ["score"]);
    const first = await runtime.rerank("what is a cat", ["an animal", "a planet far away"], { model: models.ranker });
    const second = await runtime.rerank("who wrote it", ["nobody knows"], { model: models.ranker });
    const scoreOf = (ranking: typeof first, index: number): number =>
      Math.fround(ranking.results.find((result) => result.index === index)!.score);
    expect(score).toEqual([scoreOf(first, 0), scoreOf(second, 0), scoreOf(first, 1)]);
  });
});
