import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { kernelsPage, kernelsText } from "../../scripts/generate/pages/kernels-page.ts";
import { kernelRegistry } from "./registry.ts";

describe("docs/reference/kernels.md", () => {
  it("is the registry: npm run schemas writes it", () => {
    expect(readFileSync(kernelsPage, "utf8")).toBe(kernelsText());
  });

  it("has a row for each kernel, and ids are unique", () => {
    const ids = [...kernelsText().matchAll(/^\| `(\w+)` \|/gm)].map(([, id]) => id);
    expect(ids).toEqual(kernelRegistry.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
