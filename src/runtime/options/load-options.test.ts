import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defaultTraceLimits } from "../../engine/build/trace-budget.ts";
import { loadSettingNames, loadSettings } from "./load-options.ts";
import { checkLoadSettings, mergeLoadSettings, modelOptionNames, parseLoadLimits } from "./options.ts";
import { runtimeDefaults } from "./runtime-options.ts";

/** Values of the load settings that are neither choices nor numbers. */
const valuesOfKind: Readonly<Record<string, readonly unknown[]>> = {
  adapters: [[{ path: "a.gguf" }], [{ path: "a.gguf", scale: 0.5 }]],
  boolean: [true, false],
  texts: [["3200x8640=160/96/32"], ["a", "b"]],
};
const kernels = [["Q4_K_Wasm"], ["Q4_K_Scalar", "Q8_0_Wasm"]];

describe("the options of loading", () => {
  it.each(loadSettingNames)("%s accepts its values, refuses others, and is merged", (name) => {
    const { type } = loadSettings[name];
    const listed = type.kind === "choice" ? type.values : (valuesOfKind[type.kind] ?? [1, 8]);
    const values = name === "kernels" ? kernels : listed;
    for (const value of values) {
      expect(() => checkLoadSettings({ [name]: value })).not.toThrow();
      expect(mergeLoadSettings({}, { [name]: values[0] }, { [name]: value })).toEqual({ [name]: value });
    }
    for (const value of [0, -1, 1.5, Number.NaN, "fastest", null, {}]) {
      expect(() => checkLoadSettings({ [name]: value })).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
    }
  });

  it.each(["maxRunMemory", "maxTraceTime", "maxTraceMemory"])(
    "%s is read from text and from a number, and refused at 0",
    (name) => {
      expect(parseLoadLimits({ [name]: name === "maxTraceTime" ? "2s" : "2kB" })).toEqual({ [name]: 2000 });
      expect(parseLoadLimits({ [name]: 7 })).toEqual({ [name]: 7 });
      for (const written of [0, "0", "much"])
        expect(() => parseLoadLimits({ [name]: written })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    },
  );

  it("the defaults of the limits are those of the engine", () =>
    expect(
      parseLoadLimits({ maxTraceTime: runtimeDefaults.maxTraceTime, maxTraceMemory: runtimeDefaults.maxTraceMemory }),
    ).toEqual({
      maxTraceTime: defaultTraceLimits.milliseconds,
      maxTraceMemory: defaultTraceLimits.bytes,
    }));

  it("docs/reference/library.md names every option of a load", () => {
    const page = readFileSync(new URL("../../../docs/reference/library.md", import.meta.url), "utf8").replaceAll(/\s+/g, " ");
    expect(page).toContain(`Options: ${modelOptionNames.map((name) => `\`${name}\``).join(", ")}.`);
  });
});
