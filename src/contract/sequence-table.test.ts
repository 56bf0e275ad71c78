import { expect, it } from "vitest";
import { SequenceTable } from "./sequence-table.ts";

it("a table of sequences numbers them, keeps their order of use, and refuses numbers that it does not hold", () => {
  const table = new SequenceTable<string>();
  expect([table.add("a"), table.add("b"), table.add("c")]).toEqual([1, 2, 3]);
  table.set(1, "used");
  expect(table.values()).toEqual(["b", "c", "used"]);
  expect(table.release(2)).toBe("b");
  expect(table.add("d")).toBe(4);
  table.replace(3, "c");
  expect(table.entries()).toEqual([
    [3, "c"],
    [1, "used"],
    [4, "d"],
  ]);
  expect([table.size, table.get(1)]).toEqual([3, "used"]);
  const refused = expect.objectContaining({ code: "INPUT_INVALID", message: "there is no sequence 2" }) as object;
  for (const use of [() => table.get(2), () => table.set(2, "x"), () => table.replace(2, "x"), () => table.release(2)])
    expect(use).toThrow(refused);
  table.clear();
  expect([table.size, table.add("e")]).toEqual([0, 5]);
});
