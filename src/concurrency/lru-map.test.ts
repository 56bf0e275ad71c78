import { expect, it } from "vitest";
import { LruMap } from "./lru-map.ts";

it("a map of bounded size lets go of what was used longest ago", () => {
  const evicted: string[] = [];
  const map = new LruMap<string>(3000, (value) => evicted.push(value));
  for (const key of ["a", "b", "c"]) map.set(key, key, 1000);
  expect(map.size).toBe(3000);
  expect(map.get("a")).toBe("a");
  map.set("d", "d", 1000);
  expect(["a", "b", "c", "d"].map((key) => map.get(key))).toEqual(["a", undefined, "c", "d"]);
  map.set("d", "D", 500);
  expect([map.get("d"), map.size]).toEqual(["D", 2500]);
  map.set("huge", "huge", 5000);
  expect([map.get("huge"), map.get("a")]).toEqual([undefined, "a"]);
  expect(evicted).toEqual(["b"]);
  expect([...map.values()]).toEqual(["c", "D", "a"]);
  map.clear();
  expect([map.size, map.get("a")]).toEqual([0, undefined]);
});
