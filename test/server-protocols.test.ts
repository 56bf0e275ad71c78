/** The server's protocols on real models, against what the library gives; no socket. */
import { createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, describe, expect, it } from "vitest";
import { hasSharedData, needsData, sharedData } from "./shared-data.ts";

const models = {
  minilm: `${sharedData}all-MiniLM-L6-v2`,
  scorer: `${sharedData}minilm-pair-scorer`,
};
const runtime = await createRuntime();
afterAll(() => runtime.dispose());
const handler: Handler = createHandler(runtime, hasSharedData ? { models } : {});

interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

async function post<Body>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<Body>> {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const response = await handler(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: (await response.json()) as Body };
}

const query = "a pet that purrs";
const documents = ["a car on the road", "a cat purrs", "a dog"];

const [skip, title] = needsData("Cohere's rerank on a cross-encoder");
describe.skipIf(skip)(title, () => {
  it("gives scores between 0 and 1, in the order of the logits, and counts what was read", async () => {
    const { body } = await post<{
      results: { index: number; relevance_score: number }[];
      usage: { total_tokens: number };
    }>("/v2/rerank", { model: "scorer", query, documents });
    const raw = await runtime.rerank(query, documents, { model: models.scorer, raw: true });
    expect(body.results.map(({ index }) => index)).toEqual(raw.results.map(({ index }) => index));
    for (const [place, { relevance_score: score }] of body.results.entries())
      expect(score).toBeCloseTo(1 / (1 + Math.exp(-raw.results[place]!.score)), 6);
    expect(body.usage.total_tokens).toBe(raw.tokens.reduce((sum, count) => sum + count, 0));
  });
});
