import { describe, expect, it } from "vitest";
import { scriptedBackend } from "../../testing/scripted-backend.ts";
import { validateBackends } from "./backend-registry.ts";

describe("registering backends", () => {
  it("refuses none at all", () => {
    expect(() => validateBackends([])).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });

  it("keeps them in order", () => {
    const backends = [scriptedBackend("wasm"), scriptedBackend("onnx")];
    expect(validateBackends(backends)).toEqual(backends);
  });

  it.each([
    ["two of one name", [scriptedBackend("a"), scriptedBackend("a")], "another backend has the same name"],
    ["a name no target could hold", [scriptedBackend("My Engine")], "its name must be a lower-case word"],
    [
      "another version of the contract",
      [{ ...scriptedBackend("a"), contractVersion: 2 as never }],
      "contract version 2, and this is version 1",
    ],
    [
      "a range of versions that is none",
      [{ ...scriptedBackend("a"), requires: [{ kind: "package" as const, name: "ort", range: ">=1 || new", install: "" }] }],
      '">=1 || new" for ort is not a range of versions',
    ],
  ])("refuses %s", (_name, backends, reason) => {
    expect(() => validateBackends(backends)).toThrow(expect.objectContaining({ code: "CONTRACT_VIOLATION" }));
    expect(() => validateBackends(backends)).toThrow(reason);
  });
});
