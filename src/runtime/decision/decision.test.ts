import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { makeDecision } from "./decision.ts";
import { checkDecision, decisionJsonSchema } from "./decision-schema.ts";
import { mergeConstraints } from "../targets/constraints.ts";

const variant: Variant = { name: "fp32", aliases: [], format: "onnx", path: "/m/model.onnx", bytes: 1, config: {} };
const manifest: Manifest = {
  reference: "./m",
  name: "m",
  directory: "/m",
  source: "file",
  tasks: [],
  variants: [variant, { ...variant, name: "rows", format: "safetensors" }],
  selection: { backends: [], fallbacks: [] },
  requirements: {},
};
const selected = {
  target: "onnx:cpu",
  device: "cpu",
  library: { name: "x", version: "1" },
  host: "worker",
  evidence: ["said so"],
};

describe("the decision record", () => {
  const constraints = mergeConstraints({ prefer: "onnx:cuda:1", target: "onnx,wasm", exclude: "native" });

  it("fits its published schema, loaded or not", () => {
    const candidates = [{ target: "onnx:cpu", verdict: "selected", stage: "verify", reason: "x 1", milliseconds: 3 } as const];
    const loaded = makeDecision({ manifest, constraints, candidates, selected, variant, digest: "sha256:abc" });
    expect(() => checkDecision(structuredClone(loaded))).not.toThrow();
    expect(() => checkDecision(makeDecision({ manifest, constraints, candidates: [], selected: null }))).not.toThrow();
  });

  it("states the constraints in the spelling of targets", () => {
    expect(makeDecision({ manifest, constraints, candidates: [], selected: null }).constraints).toEqual({
      policy: "priority",
      preferred: ["onnx:cuda:1"],
      required: ["onnx or wasm"],
      excluded: ["native"],
    });
  });

  it("names the format that was loaded, or all there are", () => {
    expect(makeDecision({ manifest, constraints, candidates: [], selected, variant }).model).toEqual({
      reference: "./m",
      format: "onnx",
      variant: "fp32",
    });
    expect(makeDecision({ manifest, constraints, candidates: [], selected: null }).model.format).toBe("onnx, safetensors");
  });

  it("has an id of its own each time", () => {
    const make = (): string => makeDecision({ manifest, constraints, candidates: [], selected: null }).id;
    expect(make()).not.toBe(make());
  });

  it("schemas/decision.json is the schema of the code: npm run schemas writes it", () => {
    const committed: unknown = JSON.parse(readFileSync(new URL("../../../schemas/decision.json", import.meta.url), "utf8"));
    expect(committed).toEqual(decisionJsonSchema());
  });
});
