/** `npm run conformance` on a few cases, on all targets. */
import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { needsData } from "../fixtures/shared-data.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [skip, name] = needsData("npm run conformance");

function conformance(...flags: string[]): string {
  return execFileSync("npx", ["tsx", "scripts/conformance/main.ts", ...flags], { cwd: root, encoding: "utf8" });
}

describe.skipIf(skip)(name, () => {
  it("prints the verdict of every case on every target as JSON", () => {
    const cases = { "node/test_det_2d": "passed" };
    const report = { passed: 1, failed: 0, refused: 0, cases };
    expect(JSON.parse(conformance("--filter", "test_det_2d", "--json"))).toEqual({ native: report, onnx: report, wasm: report });
  }, 60_000);

  it("goes on where an engine ends its process", () => {
    const report = JSON.parse(conformance("--filter", "test_cast_FLOAT_to_", "--target", "onnx", "--json")) as {
      onnx: { cases: Record<string, string> };
    };
    const verdicts = Object.values(report.onnx.cases);
    expect(report.onnx.cases["node/test_cast_FLOAT_to_INT4"]).toBe("failed");
    expect(verdicts.filter((verdict) => verdict === "passed").length).toBeGreaterThan(0);
  }, 60_000);

  it("prints a row for every operator", () => {
    expect(conformance("--filter", "test_det_", "--target", "native")).toMatch(/^Det +2 0 0$/m);
  }, 60_000);

  it("says what it does not know", () => {
    const wrong = spawnSync("npx", ["tsx", "scripts/conformance/main.ts", "--target", "gpu"], { cwd: root, encoding: "utf8" });
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toContain('there is no target "gpu"');
  }, 60_000);
});
