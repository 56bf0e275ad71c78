import { expect, it } from "vitest";
import { mersenneTwister } from "./mersenne-twister.ts";

it("gives the numbers of numpy.random.seed(0); numpy.random.uniform(size=4)", () => {
  const next = mersenneTwister(0);
  const drawn = [next(), next(), next(), next()];
  expect(drawn).toEqual([0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969]);
});

it("goes on beyond its first 312 numbers without repeating itself", () => {
  const next = mersenneTwister(7);
  const drawn = Array.from({ length: 2000 }, next);
  expect(new Set(drawn).size).toBe(2000);
  expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true);
});
