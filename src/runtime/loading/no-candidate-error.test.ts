import { describe, expect, it } from "vitest";
import { type ErrorCode, InferyardError } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { OpenCircuit } from "../supervision/circuit-breakers.ts";
import { type Candidate, makeDecision } from "../decision/decision.ts";
import { noCandidateError } from "./no-candidate-error.ts";
import { type ConstraintOptions, mergeConstraints } from "../targets/constraints.ts";

const manifest: Manifest = {
  reference: "./m",
  name: "m",
  directory: "/m",
  source: "file",
  tasks: [],
  variants: [{ name: "fp32", aliases: [], format: "onnx", path: "/m/model.onnx", bytes: 1, config: {} }],
  selection: { backends: [], fallbacks: [] },
  requirements: {},
};

interface Scene {
  readonly candidates: readonly Candidate[];
  readonly failures?: readonly InferyardError[];
  readonly circuits?: readonly OpenCircuit[];
  readonly constraints?: ConstraintOptions;
}

function refused({ candidates, failures = [], circuits = [], constraints: input = {} }: Scene): InferyardError {
  const constraints = mergeConstraints(input);
  const decision = makeDecision({ manifest, constraints, candidates, selected: null });
  return noCandidateError(manifest, constraints, decision, { failures, circuits });
}

const failed = (target: string, remedy?: string): Candidate => ({
  target,
  verdict: "refused",
  stage: "load",
  reason: `${target} failed`,
  ...(remedy === undefined ? {} : { remedy }),
});
const circuitOpen: Candidate = { target: "wasm:cpu", verdict: "refused", stage: "circuit", reason: "it died at 12:00" };
const failure = (code: ErrorCode, retryAfterMs?: number): InferyardError =>
  new InferyardError(code, code, retryAfterMs === undefined ? {} : { retryAfterMs });

describe("the error of a load that found no home", () => {
  it.each<[ErrorCode, string, Scene]>([
    ["NO_BACKEND", "nothing is registered", { candidates: [] }],
    ["BACKEND_UNAVAILABLE", "one target was asked", { candidates: [failed("onnx:cpu")], failures: [failure("LOAD_FAILED")] }],
    [
      "MODEL_INVALID",
      "all say so of the model",
      { candidates: [failed("a:cpu"), failed("b:cpu")], failures: [failure("MODEL_INVALID"), failure("MODEL_INVALID")] },
    ],
    [
      "NO_BACKEND",
      "they say different things",
      { candidates: [failed("a:cpu"), failed("b:cpu")], failures: [failure("MODEL_INVALID"), failure("LOAD_FAILED")] },
    ],
    [
      "HOST_DIED",
      "one died while it loaded, and may load the next time",
      { candidates: [failed("a:cpu"), circuitOpen], failures: [failure("MODEL_INVALID"), failure("HOST_DIED")] },
    ],
    ["CIRCUIT_OPEN", "the circuit of one is open", { candidates: [failed("a:cpu"), circuitOpen] }],
    ["CIRCUIT_OPEN", "a load said so", { candidates: [failed("a:cpu"), failed("b:cpu")], failures: [failure("CIRCUIT_OPEN")] }],
  ])("is %s where %s", (code, _case, scene) => {
    expect(refused(scene).code).toBe(code);
  });

  it("says when to come back: as soon as the first of those that may run later", () => {
    const candidates = [failed("a:cpu"), circuitOpen];
    const circuits = [
      { reason: "it died at 12:00", remainingMs: 4000.2 },
      { reason: "of another model", remainingMs: 1 },
    ];
    expect(refused({ candidates, circuits }).retryAfterMs).toBe(4001);
    expect(refused({ candidates, circuits, failures: [failure("HOST_DIED", 900)] }).retryAfterMs).toBe(900);
    expect(refused({ candidates: [failed("a:cpu")], circuits }).retryAfterMs).toBeUndefined();
  });

  it("names what would mend it: beside each candidate, or as its own where there is one", () => {
    expect(refused({ candidates: [failed("a:cpu", "install a"), failed("b:cpu")] })).toMatchObject({
      message: "no backend on this machine can run m\n  a:cpu  load: a:cpu failed  (install a)\n  b:cpu  load: b:cpu failed",
      remedy: expect.stringContaining("inferyard doctor") as string,
    });
    expect(refused({ candidates: [failed("a:cpu", "install a")], constraints: { target: "a" } }).remedy).toBe(
      'install a; you required this target, so nothing else was tried; `prefer: ["a"]` would fall back to another',
    );
    expect(refused({ candidates: [failed("a:cpu")], constraints: { target: "a" } }).remedy).toMatch(/^you required this target/);
  });

  it("leaves out what the constraints exclude, unless that is all there is", () => {
    const excluded: Candidate = { target: "b:cpu", verdict: "refused", stage: "constraints", reason: "excluded" };
    expect(refused({ candidates: [failed("a:cpu"), excluded] }).message).toBe("a:cpu cannot run m\n  load: a:cpu failed");
    expect(refused({ candidates: [excluded] }).message).toBe("b:cpu cannot run m\n  constraints: excluded");
  });
});

describe("constraints", () => {
  it("of several levels that each require a target are named as the likely cause", () => {
    const constraints = mergeConstraints({ target: "a" }, { target: "b" });
    const decision = makeDecision({ manifest, constraints, candidates: [failed("a:cpu"), failed("b:cpu")], selected: null });
    expect(noCandidateError(manifest, constraints, decision, { failures: [], circuits: [] }).remedy).toContain(
      "no target meets all of them",
    );
  });

  it("for a policy that does not exist are refused with those there are", () => {
    const unknown: ConstraintOptions = JSON.parse('{"policy":"luckiest"}') as ConstraintOptions;
    expect(() => mergeConstraints({}, unknown)).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", remedy: "choose one of priority, manifest, fastest" }),
    );
  });
});
