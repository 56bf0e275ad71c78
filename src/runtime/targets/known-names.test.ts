import { describe, expect, it } from "vitest";
import { scriptedBackend } from "../../testing/scripted-backend.ts";
import { refuseUnknownNames } from "./known-names.ts";

const registered = [scriptedBackend("onnx"), scriptedBackend("acme")];

const refused = (message: string, remedy: string) =>
  expect.objectContaining({ code: "INPUT_INVALID", message: expect.stringContaining(message), remedy });

describe("names in placement constraints", () => {
  it.each([
    [{ priority: ["wsam"] }, 'priority names the backend "wsam"', 'did you mean "wasm"?'],
    [{ priority: ["onnx", "acmee"] }, 'priority names the backend "acmee"', 'did you mean "acme"?'],
    [{ prefer: "onnx:cpu, lamacpp" }, 'prefer names the backend "lamacpp"', 'did you mean "llamacpp"?'],
    [
      { exclude: ["bogus"] },
      'exclude names the backend "bogus"',
      "the backends are onnx, acme, xla, llamacpp, native, wasm, library",
    ],
    [{ target: "onxn:cpu" }, 'target names the backend "onxn"', 'did you mean "onnx"?'],
    [{ exclude: "native:cudaa" }, 'exclude names the device "cudaa"', 'did you mean "cuda"?'],
    [{ priority: [] }, "priority is an empty list", "name at least one, or leave priority out"],
    [{ target: [] }, "target is an empty list", "name at least one, or leave target out"],
    [{ target: " " }, "target is an empty list", "name at least one, or leave target out"],
  ])("%j", (constraints, message, remedy) => {
    expect(() => refuseUnknownNames(constraints, registered)).toThrow(refused(message, remedy));
  });

  it("what a runtime has, what this package has, and any known device are accepted in any case", () => {
    const constraints = {
      priority: ["ACME", "xla", "WASM"],
      prefer: "Library:CPU",
      exclude: "onnx:CUDA:3,*:metal,acme:fpga",
      target: "*:dml",
    };
    expect(() => refuseUnknownNames(constraints, registered)).not.toThrow();
  });

  it("an empty list of preferences or exclusions states nothing", () => {
    expect(() => refuseUnknownNames({ prefer: [], exclude: "" }, registered)).not.toThrow();
  });

  it("says whose settings have the name", () => {
    expect(() => refuseUnknownNames({ exclude: "bogus" }, registered, "the settings for m: ")).toThrow(
      "the settings for m: exclude names",
    );
  });
});
