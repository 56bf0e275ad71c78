import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KnownLayout, knownLayout, llamaLayouts } from "../contracts/index.ts";
import { getFieldSize, writeField } from "../ffi/index.ts";
import { type WrittenStruct, compareLayouts, fittingLayout, poisons, writtenEnd } from "./match-layout.ts";

const bytesOfBuffer = 512;

/** What a library with this layout writes: the first known value of each field; padding as zeros or not at all. */
function writtenBy(layout: KnownLayout, padding: "zeros" | "untouched", without: readonly string[] = []): WrittenStruct {
  const [first, second] = poisons.map((poison) => {
    const buffer = new Uint8Array(bytesOfBuffer).fill(poison);
    if (padding === "zeros") buffer.fill(0, 0, layout.size);
    for (const [name, { offset, type, values }] of Object.entries(layout.fields)) {
      const [value = 0n] = values;
      if (without.includes(name)) buffer.fill(poison, offset, offset + getFieldSize(type));
      else writeField(layout, buffer, name, value === "address" ? 0x7f00_0000_1000n : value);
    }
    return buffer;
  });
  if (first === undefined || second === undefined) throw new Error("there are two poisons");
  return { first, second };
}

const all = Object.values(llamaLayouts).flatMap((layouts) => layouts.map((layout) => ({ layout, layouts })));

describe("what libraries write is told apart", () => {
  it.each(all.map(({ layout, layouts }) => [`${layout.name} ${layout.release}`, layout, layouts] as const))(
    "%s, with padding untouched",
    (_name, layout, layouts) => {
      expect(fittingLayout(compareLayouts(layouts, writtenBy(layout, "untouched")))).toBe(layout);
    },
  );

  it.each(all.map(({ layout, layouts }) => [`${layout.name} ${layout.release}`, layout, layouts] as const))(
    "%s, with padding written: that layout, or one that has all fields of it at the same offsets",
    (_name, layout, layouts) => {
      const found = fittingLayout(compareLayouts(layouts, writtenBy(layout, "zeros")));
      expect(found?.size).toBe(layout.size);
      const shared = Object.entries(layout.fields).filter(([name]) => found?.fields[name] !== undefined);
      expect(shared.length).toBeGreaterThan(0);
      for (const [name, { offset, type }] of shared) expect(found?.fields[name]).toMatchObject({ offset, type });
    },
  );
});

const struct = knownLayout("struct", "b1", [
  ["count", "int32", 7],
  ["on", "bool", true],
  ["user", "pointer", 0n],
]);

describe("differences", () => {
  const differences = (written: WrittenStruct): readonly string[] => compareLayouts([struct], written)[0]?.differences ?? [];

  it("names the field that nothing was written to, and the one that another value was written to", () => {
    expect(differences(writtenBy(struct, "untouched", ["user"]))).toEqual([
      "user: pointer at offset 8, 0 expected, 0 of its 8 bytes written",
    ]);
    const written = writtenBy(struct, "untouched");
    for (const bytes of [written.first, written.second]) writeField(struct, bytes, "count", 9);
    expect(differences(written)).toEqual(["count: int32 at offset 0, 7 expected, found 9 (bytes 09000000)"]);
  });

  it("names bytes behind the struct, and values in its padding", () => {
    const written = writtenBy(struct, "untouched");
    for (const bytes of [written.first, written.second]) bytes.set([1], 5);
    expect(differences(written)).toEqual(["no field at offset 5, where values were written"]);
    for (const bytes of [written.first, written.second]) bytes.set([0], 30);
    expect(differences(written)).toContain("size 16: 31 bytes were written");
    expect([writtenEnd(written), writtenEnd({ first: Uint8Array.of(1), second: Uint8Array.of(2) })]).toEqual([31, 0]);
  });

  it("fits none where two layouts fit that disagree", () => {
    const other = knownLayout("struct", "b2", [
      ["count", "int32", 7],
      ["off", "bool", true],
      ["user", "pointer", 0n],
    ]);
    expect(fittingLayout(compareLayouts([struct, other], writtenBy(struct, "untouched")))).toBeUndefined();
  });
});

it("accepts no bytes by chance: a change of any written byte is seen", () => {
  fc.assert(
    fc.property(fc.constantFrom(...all), fc.nat(), fc.integer({ min: 1, max: 255 }), ({ layout, layouts }, at, change) => {
      const written = writtenBy(layout, "untouched");
      const fields = Object.values(layout.fields).filter(({ values }) => values.length === 1 && values[0] !== "address");
      const field = fields[at % fields.length];
      if (field === undefined || field.type === "bool") return;
      const offset = field.offset + (at % getFieldSize(field.type));
      for (const bytes of [written.first, written.second]) bytes[offset] = (bytes[offset] ?? 0) ^ change;
      // -0 equals 0.
      if (field.type === "float32" && change === 0x80 && field.values[0] === 0) return;
      expect(fittingLayout(compareLayouts(layouts, written))).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});
