/** The table of structs against the header pjrt_c_api.h of version 0.81: header-layouts.json has what a C compiler says of it (sizeof, offsetof). */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { StructLayout } from "../../../libraries/ffi/index.ts";
import { executeOptionsLayout, namedValueLayout, pjrtFunctions, programLayout } from "./structs.ts";

interface HeaderLayout {
  readonly size: number;
  readonly fields: Readonly<Record<string, number>>;
}

const header = JSON.parse(readFileSync(new URL("header-layouts.json", import.meta.url), "utf8")) as {
  readonly slots: Readonly<Record<string, number>>;
  readonly layouts: Readonly<Record<string, HeaderLayout>>;
};

describe("the table of PJRT functions and structs", () => {
  it("has each function in the slot that the header gives it", () => {
    const slots = Object.entries(pjrtFunctions).map(([name, { slot }]) => [name, slot]);
    expect(Object.fromEntries(slots)).toEqual(header.slots);
  });

  const layouts = [
    ...Object.values(pjrtFunctions).map(({ layout }) => layout),
    programLayout,
    executeOptionsLayout,
    namedValueLayout,
  ];

  it.each(layouts.map((layout): [string, StructLayout] => [layout.name, layout]))(
    "places the fields of %s as the header does",
    (name, layout) => {
      const stated = header.layouts[name]!;
      const own = Object.entries(layout.fields).map(([field, { offset }]): [string, number] => [field, offset]);
      const known = own.filter(([field]) => field in stated.fields);
      expect(Object.fromEntries(known)).toEqual(stated.fields);
      // Later versions add fields at the end, where no field of this version is.
      for (const [, offset] of own.filter(([field]) => !(field in stated.fields)))
        expect(offset).toBeGreaterThanOrEqual(stated.size);
      expect(layout.size).toBeGreaterThanOrEqual(stated.size);
    },
  );
});
