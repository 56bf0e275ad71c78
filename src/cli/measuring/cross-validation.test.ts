import { Readable, Writable } from "node:stream";
import { expect, it } from "vitest";
import type { ComparedRun, VectorCrossValidation } from "../../cross-validation/index.ts";
import type { Terminal } from "../terminal.ts";
import { formatCrossValidation } from "./cross-validation.ts";

it("a cross-validation of an engine with itself says what it does not show", () => {
  const run: ComparedRun = {
    model: "m.onnx",
    digest: "sha256:1",
    target: "native:cpu",
    library: { name: "inferyard", version: "0.1.0" },
  };
  const terminal: Terminal = {
    stdout: new Writable(),
    stderr: new Writable(),
    stdin: Readable.from([]),
    environment: {},
    directory: "/",
    signal: new AbortController().signal,
  };
  const note = (reference: Partial<ComparedRun>): boolean => {
    const result: VectorCrossValidation = {
      kind: "vectors",
      tested: run,
      reference: { ...run, ...reference },
      texts: [],
      summary: {
        maxError: { value: 0, position: 0 },
        cosine: { mean: 1, worst: { value: 1, position: 0 } },
        speedRatio: 1,
      },
      failures: [],
    };
    return formatCrossValidation(result, terminal).includes("both runs used the same engine");
  };
  expect(note({})).toBe(true);
  for (const other of [
    { target: "onnx:cpu" },
    { digest: "sha256:2" },
    { recording: "r" },
    { libraryPath: "/l.so" },
    { variant: "int8" },
  ])
    expect(note(other)).toBe(false);
});
