import fc from "fast-check";
import { expect, it } from "vitest";
import { type Reader, UnreadResponses } from "./unread-responses.ts";

const limit = 1_200_000;

function start() {
  let time = 0;
  const responses = new UnreadResponses({ maxBytes: limit, stallMs: 30_000, now: () => time });
  const ended: Reader[] = [];
  const reader = (client: string): Reader => {
    const made: Reader = { client, destroy: () => void ended.push(made) };
    return made;
  };
  return { responses, reader, ended, pass: (ms: number) => (time += ms) };
}

it("a client that does not read is refused at a third, may hold half, and leaves room for others", () => {
  const { responses, reader } = start();
  expect(responses.isFull("greedy")).toBe(false);
  for (let count = 0; count < 4; count += 1) expect(responses.reserve(reader("greedy"), 100_000)).toBe(true);
  expect([responses.isFull("greedy"), responses.isFull("other")]).toEqual([true, false]);
  for (let count = 0; count < 2; count += 1) expect(responses.reserve(reader("greedy"), 100_000)).toBe(true);
  expect(responses.reserve(reader("greedy"), 100_000)).toBe(false);
  expect(responses.bytes).toBe(limit / 2);
  expect(responses.isFull("other")).toBe(false);
  expect(responses.reserve(reader("other"), 200_000)).toBe(true);
});

it("slow readers of the client that holds most are disconnected first", () => {
  const { responses, reader, ended, pass } = start();
  const [quiet, first, second] = [reader("quiet"), reader("greedy"), reader("greedy")];
  responses.reserve(quiet, 70_000);
  responses.reserve(first, 250_000);
  responses.reserve(second, 250_000);
  expect(responses.isFull("greedy")).toBe(true);
  pass(6000);
  expect(responses.isFull("greedy")).toBe(false);
  expect(ended).toHaveLength(1);
  expect([first, second]).toContain(ended[0]);
});

it("small responses are always written, and bytes that were taken are free again", () => {
  const { responses, reader } = start();
  const full = reader("full");
  responses.reserve(full, limit / 2);
  expect(responses.reserve(full, 60_000)).toBe(true);
  responses.sent(full, limit / 2 + 60_000);
  expect([responses.bytes, responses.isFull("full")]).toEqual([0, false]);
});

it("however many clients leave how much, a client without unread bytes is served", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(9), fc.integer({ min: 65_537, max: 700_000 })), { maxLength: 60 }), (requests) => {
      const { responses, reader } = start();
      for (const [client, bytes] of requests) responses.reserve(reader(`client ${client}`), bytes);
      expect(responses.isFull("new")).toBe(false);
    }),
    { numRuns: 100 },
  );
});
