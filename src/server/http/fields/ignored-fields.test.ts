import { describe, expect, it } from "vitest";
import { requestLimits } from "../request-limits.ts";
import { IgnoredFields } from "./ignored-fields.ts";

function namesOf(...paths: PropertyKey[][]): readonly string[] {
  const ignored = new IgnoredFields();
  for (const path of paths) ignored.add(path);
  return ignored.names;
}

describe("ignored fields", () => {
  it.each<[PropertyKey[], string]>([
    [["speed"], "/speed"],
    [["messages", 3, "name"], "/messages/3/name"],
    [["a/b~c"], "/a~1b~0c"],
    [["a,b"], "/a%2Cb"],
    [["a\r\nset-cookie: x"], "/a%0D%0Aset-cookie:%20x"],
    [["größe"], "/gr%C3%B6%C3%9Fe"],
    [["100%"], "/100%25"],
    [["\u{1F600}"], "/%F0%9F%98%80"],
    [["\uD800"], "/%EF%BF%BD"],
    [[""], "/"],
  ])("%j is named %s", (path, name) => {
    expect(namesOf(path)).toEqual([name]);
  });

  it("are named within a bound, and counted beyond it", () => {
    const long = namesOf(["x".repeat(1_000_000)]);
    expect(long).toEqual([`/${"x".repeat(requestLimits.ignoredPointerCharacters - 1)}...`]);
    const ignored = new IgnoredFields();
    for (let index = 0; index < 10_000; index += 1) ignored.add(["messages", index, "extra"]);
    ignored.addUnnamed(5);
    const { count, names } = ignored;
    expect(count).toBe(10_005);
    expect(names.at(-1)).toBe(`+${10_005 - (names.length - 1)}`);
    expect(names.join(",").length).toBeLessThan(requestLimits.ignoredCharacters + 20);
    expect(names[0]).toBe("/messages/0/extra");
  });
});
