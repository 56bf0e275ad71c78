import { describe, expect, it } from "vitest";
import { GrammarCache } from "./grammar-cache.ts";
import { type GrammarCall, type HostedGrammar, LocalGrammarHost } from "./grammar-host.ts";
import { type TextConstraint, constraintSource } from "./text-constraint.ts";
import { ClientTime } from "./threads/client-time.ts";
import { type VocabularySource, TokenVocabulary, readTokenVocabulary } from "./token-vocabulary.ts";

const words = ["a", "b", "ab", "c"];
const tokenizer: VocabularySource = {
  vocabularySize: words.length,
  tokenToId: (token) => (words.includes(token) ? words.indexOf(token) : undefined),
  idToToken: (id) => words[id],
  decode: (ids) => Array.from(ids, (id) => words[id] ?? "").join(""),
};
const call = { client: "" };
const source = (pattern: string): ReturnType<typeof constraintSource> =>
  constraintSource({ type: "regex", pattern } satisfies TextConstraint);

/** Compiles in the calling thread, once it is told to, and says what it was told. */
class WatchedHost extends LocalGrammarHost {
  readonly compiled: string[] = [];
  readonly dropped: string[] = [];
  readonly signals: (AbortSignal | undefined)[] = [];
  started: Promise<void> = Promise.resolve();

  override async compile(grammar: HostedGrammar, host: GrammarCall = call) {
    this.compiled.push(patternOf(grammar));
    this.signals.push(host.signal);
    await this.started;
    return super.compile(grammar);
  }

  override drop(grammar: HostedGrammar): void {
    this.dropped.push(patternOf(grammar));
    super.drop(grammar);
  }
}

function patternOf({ text }: HostedGrammar): string {
  return (JSON.parse(text) as { constraint: { pattern: string } }).constraint.pattern;
}

const cacheOn = (host: LocalGrammarHost, maxBytes: number): GrammarCache =>
  new GrammarCache({ host, tokenizer: { tokenizer, settings: undefined }, size: words.length, maxBytes });

describe("compiled grammars", () => {
  it("are kept by their bytes: the least recently used go first, and the newest stays", async () => {
    const host = new WatchedHost();
    const measured = cacheOn(host, 1e9);
    await measured.get(source("a"), call);
    const cache = cacheOn(host, measured.bytes * 2.5);
    for (const pattern of ["a", "b", "a", "c", "b"]) await cache.get(source(pattern), call);
    expect(host.dropped).toEqual(["b", "a"]);
    expect([cache.size, cache.bytes <= measured.bytes * 2.5]).toEqual([2, true]);
    const small = cacheOn(host, 1);
    await small.get(source("a"), call);
    await small.get(source("b"), call);
    expect(small.size).toBe(1);
  });

  it("are not dropped by the host while a text uses them", async () => {
    const host = new WatchedHost();
    const cache = cacheOn(host, 1);
    const used = await cache.get(source("a"), call);
    used.enter();
    await cache.get(source("b"), call);
    expect(host.dropped).toEqual([]);
    used.leave();
    expect(host.dropped).toEqual(["a"]);
  });

  it("are not kept if they are refused", async () => {
    const cache = cacheOn(new LocalGrammarHost(), 1e9);
    for (const pattern of ["(", String.raw`(a)\1`]) await expect(cache.get(source(pattern), call)).rejects.toThrow(/./);
    expect([cache.size, cache.bytes]).toEqual([0, 0]);
  });

  it("are compiled once for calls at the same time, as long as one of these waits", async () => {
    const host = new WatchedHost();
    let start = (): void => {};
    host.started = new Promise((resolve) => (start = resolve));
    const cache = cacheOn(host, 1e9);
    const leaving = new AbortController();
    const [first, second] = [cache.get(source("a"), { ...call, signal: leaving.signal }), cache.get(source("a"), call)];
    await expect.poll(() => host.compiled.length).toBe(1);
    leaving.abort();
    await expect(first).rejects.toMatchObject({ code: "ABORTED" });
    expect(host.signals[0]?.aborted).toBe(false);
    start();
    expect(await cache.get(source("a"), call)).toBe(await second);
    expect(host.compiled).toEqual(["a"]);
  });

  it("are given up when all have left", async () => {
    const host = new WatchedHost();
    host.started = new Promise(() => {});
    const cache = cacheOn(host, 1e9);
    const leaving = new AbortController();
    const work = cache.get(source("a"), { ...call, signal: leaving.signal });
    await expect.poll(() => host.compiled.length).toBe(1);
    leaving.abort();
    await expect(work).rejects.toMatchObject({ code: "ABORTED" });
    await expect.poll(() => host.signals[0]?.aborted).toBe(true);
  });
});

it("a vocabulary in shared memory is the same", () => {
  const [own, shared] = [false, true].map((isShared) => new TokenVocabulary(readTokenVocabulary(tokenizer, { isShared }))) as [
    TokenVocabulary,
    TokenVocabulary,
  ];
  for (const token of words.keys()) expect([...shared.getBytes(token, false)]).toEqual([...own.getBytes(token, false)]);
  expect([...shared.plainTokens(1).mask]).toEqual([...own.plainTokens(1).mask]);
  expect(shared.tree(true).bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
});

describe("the time of a client", () => {
  it("is used up, and comes back within a minute; others have their own", () => {
    let now = 0;
    const time = new ClientTime(1000, () => now);
    time.add("a", 900);
    time.require("a");
    time.add("a", 600);
    expect(() => time.require("a")).toThrow(
      expect.objectContaining({ code: "RATE_LIMITED", retryAfterMs: 30_000, data: expect.objectContaining({ limit: 1000 }) }),
    );
    time.require("b");
    now = 30_001;
    time.require("a");
    now = 1e6;
    time.add("a", 999);
    time.require("a");
  });
});
