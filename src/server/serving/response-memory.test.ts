import { describe, expect, it } from "vitest";
import { ResponseMemory, ResponseSizeEstimates, responseKind } from "./response-memory.ts";

const mebi = 2 ** 20;
const { signal } = new AbortController();

/** Whether the promise is settled once everything that could go on has done so. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("the memory of answers", () => {
  it("makes a client that holds half wait, and lets others and small answers go", async () => {
    const memory = new ResponseMemory(8 * mebi);
    const [first, second, other, small] = ["a", "a", "b", "a"].map((client) => memory.reservation(client));
    await first!.reserve(4 * mebi, signal);
    const waiting = second!.reserve(2 * mebi, signal);
    expect(await isSettled(waiting)).toBe(false);
    await other!.reserve(2 * mebi, signal);
    await small!.reserve(1000, signal);
    first!.release();
    await waiting;
    expect(memory.used).toBe(4 * mebi + 1000);
    for (const reservation of [second, other, small]) reservation!.release();
    expect(memory.used).toBe(0);
  });

  it("takes the real size in place of the estimate, and refuses an answer of more than half", async () => {
    const memory = new ResponseMemory(8 * mebi);
    const answer = memory.reservation("a");
    await answer.reserve(100 * mebi, signal); // waits for half at most
    answer.settle(mebi);
    expect(memory.used).toBe(mebi);
    expect(() => answer.settle(5 * mebi)).toThrow(
      "the response would take about 5242880 bytes of memory, and the limit is 4194304",
    );
    answer.release();
    answer.release();
    expect(memory.used).toBe(0);
  });

  it("forgets who leaves while waiting", async () => {
    const memory = new ResponseMemory(2 * mebi);
    const [first, second] = [memory.reservation("a"), memory.reservation("a")];
    await first.reserve(mebi, signal);
    const leaving = new AbortController();
    const waiting = second.reserve(mebi, leaving.signal);
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
    second.release();
    first.release();
    expect(memory.used).toBe(0);
  });
});

it("answers are estimated by what earlier ones of the same model and work had", async () => {
  const sizes = new ResponseSizeEstimates();
  const memory = new ResponseMemory(100 * mebi);
  const kind = (texts: number): ReturnType<typeof responseKind> => responseKind("m", { key: ["embed", []], texts });
  const before = memory.reservation("a");
  sizes.settle(before, kind(10), 10_000);
  before.release();
  const after = memory.reservation("a");
  await sizes.reserve(after, kind(1000), signal);
  expect(memory.used).toBe(2 * 1_000_000);
});
