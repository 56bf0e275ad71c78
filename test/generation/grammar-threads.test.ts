/** Threads that compile constraints: texts are those of the calling thread, also where threads end, and what takes too much ends alone. */
import { afterEach, describe, expect, it } from "vitest";
import { GrammarCache } from "../../src/tasks/generation/constraints/grammar-cache.ts";
import { type GrammarHost, LocalGrammarHost } from "../../src/tasks/generation/constraints/grammar-host.ts";
import { type TextConstraint, constraintSource } from "../../src/tasks/generation/constraints/text-constraint.ts";
import { GrammarThreads } from "../../src/tasks/generation/constraints/threads/grammar-threads.ts";
import { TokenConstraint } from "../../src/tasks/generation/constraints/token-constraint.ts";
import type { VocabularySource } from "../../src/tasks/generation/constraints/token-vocabulary.ts";

const program = new URL("fixtures/mortal-grammar-thread.mjs", import.meta.url);
const pools: GrammarThreads[] = [];
function threads(timeout: string, heap = 128, timePerMinute = "10m"): GrammarThreads {
  const pool = new GrammarThreads({ timeout, timePerMinute, cacheBytes: 1e8 }, { program, heap });
  pools.push(pool);
  return pool;
}
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.dispose()));
});

/** A token for each character from a space to a tilde, and some longer ones. */
const words = [...Array.from({ length: 95 }, (_, index) => String.fromCodePoint(32 + index)), '{"', '":', '","', "abc", "12"];
const tokenizer: VocabularySource = {
  vocabularySize: words.length + 1,
  tokenToId: (token) => (words.includes(token) ? words.indexOf(token) : undefined),
  idToToken: (id) => words[id],
  decode: (ids) => Array.from(ids, (id) => words[id] ?? "").join(""),
};
const end = words.length;
const cacheOn = (host: GrammarHost): GrammarCache =>
  new GrammarCache({ host, tokenizer: { tokenizer, settings: undefined }, size: end + 1, maxBytes: 1e8 });
const regex = (pattern: string): TextConstraint => ({ type: "regex", pattern });
const schema = {
  type: "schema",
  schema: {
    type: "object",
    properties: { name: { type: "string", maxLength: 9 }, age: { type: "integer", maximum: 99 } },
    required: ["name", "age"],
    additionalProperties: false,
  },
} as const;
const honest = { client: "honest" };

/** Writes a text token by token, whichever of those that may follow a seed picks. `before`: is called before each token. */
async function write(
  cache: GrammarCache,
  constraint: TextConstraint,
  before: (token: number) => Promise<void> | void = () => {},
) {
  const text = new TokenConstraint({ grammar: await cache.get(constraintSource(constraint), honest), ...honest }, [end]);
  const tokens: number[] = [];
  for (let seed = 7; tokens.length < 60; seed = (seed * 48_271) % 2_147_483_647) {
    await before(tokens.length);
    const mask = await text.allowed();
    const allowed = Array.from({ length: end + 1 }, (_, token) => token).filter(
      (token) => ((mask[token >>> 5]! >>> (token & 31)) & 1) === 1,
    );
    const token = allowed[seed % allowed.length]!;
    if (token === end) break;
    tokens.push(token);
    await text.push(token, "");
    if (text.isDone) break;
    text.prepare();
  }
  text.end();
  return tokenizer.decode(tokens);
}

describe("threads for constraints", () => {
  it("allow the tokens that the calling thread allows, and texts go on as they would when their thread has ended", async () => {
    const expected = await write(cacheOn(new LocalGrammarHost()), schema);
    expect(JSON.parse(expected)).toHaveProperty("age");
    const pool = threads("60s");
    const cache = cacheOn(pool);
    // The other constraint is of the same client, so that it is compiled in the same thread, which it ends.
    const kill = async (): Promise<void> => {
      const killing = cache.get(constraintSource(regex("exit")), honest);
      await expect(killing).rejects.toMatchObject({ code: "HOST_DIED" });
    };
    expect(await write(cache, schema, (token) => ([0, 3, 12].includes(token) ? kill() : undefined))).toBe(expected);
    expect(await write(cacheOn(pool), schema)).toBe(expected);
  });

  it("refuse what takes too long, with the number and the limit; what else was in the thread goes on", async () => {
    const pool = threads("5s");
    const cache = cacheOn(pool);
    const before = await write(cache, regex("[ab]{9}"));
    await expect(cache.get(constraintSource(regex("hang")), honest)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      data: { refused: true, unit: "milliseconds", number: expect.any(Number) as number, limit: 5000 },
    });
    expect(await write(cache, regex("[ab]{9}"))).toBe(before);
    expect(cache.size).toBe(1);
  });

  it("refuse a heap that is full", async () => {
    const pool = threads("60s", 32);
    await expect(cacheOn(pool).get(constraintSource(regex("memory")), honest)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      data: { refused: true, unit: "bytes", number: 32 * 2 ** 20, limit: 32 * 2 ** 20 },
    });
  });

  it("write texts while another constraint in their thread is still compiled", async () => {
    const pool = threads("60s");
    const cache = cacheOn(pool);
    let hanging: Promise<unknown> | undefined;
    let isSettled = false;
    const hang = (): void => {
      hanging = cache.get(constraintSource(regex("hang")), honest).finally(() => (isSettled = true));
      hanging.catch(() => {}); // ended below
    };
    const expected = await write(cacheOn(new LocalGrammarHost()), schema);
    expect(await write(cache, schema, (token) => (token === 3 ? hang() : undefined))).toBe(expected);
    expect(isSettled).toBe(false);
    // Others compile meanwhile.
    const other = { client: "other" };
    await cache.get(constraintSource(regex("other")), other);
    await pool.dispose();
    await expect(hanging).rejects.toMatchObject({ code: "DISPOSED" });
    await expect(cache.get(constraintSource(regex("late")), other)).rejects.toMatchObject({ code: "DISPOSED" });
  });

  it("compile no more for a client that has used up its time, whose texts go on", async () => {
    const pool = threads("60s", 128, "1ms");
    const cache = cacheOn(pool);
    expect(await write(cache, schema)).toBe(await write(cacheOn(new LocalGrammarHost()), schema));
    const refused = cache.get(constraintSource(regex("more")), honest);
    await expect(refused).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterMs: expect.any(Number) as number });
    await cache.get(constraintSource(regex("more")), { client: "other" });
  });

  it("end what nobody waits for any more, whether it is compiled or queued", async () => {
    const pool = threads("10m");
    const cache = cacheOn(pool);
    const [running, queued] = [new AbortController(), new AbortController()];
    const aborted = [
      cache.get(constraintSource(regex("hang")), { ...honest, signal: running.signal }),
      cache.get(constraintSource(regex("hang again")), { ...honest, signal: queued.signal }),
    ].map((work) => expect(work).rejects.toMatchObject({ code: "ABORTED" }));
    const waiting = cache.get(constraintSource(regex("waits")), honest);
    running.abort();
    queued.abort();
    await Promise.all(aborted);
    await waiting; // a client compiles one constraint at a time
  });
});
