import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { programBackendsPage, programBackendsText } from "../../../scripts/generate/pages/program-backends-page.ts";

describe("docs/reference/program-backends.md", () => {
  it("is the table of the code: npm run schemas writes it", () => {
    expect(readFileSync(programBackendsPage, "utf8")).toBe(programBackendsText());
  });
});
