import { describe, expect, it } from "vitest";
import { basename, dirname, extname, isAbsolute, join, normalize } from "./paths.ts";

const folder = "https://host/models/some%20model";

describe("paths in a browser", () => {
  it("are URLs, and names behind them are written as URLs want them", () => {
    expect(join(folder, "onnx/model.onnx")).toBe(`${folder}/onnx/model.onnx`);
    expect(join(`${folder}/`, "./a b#c?d.json")).toBe(`${folder}/a%20b%23c%3Fd.json`);
    expect(join(folder, ".")).toBe(folder);
    expect(basename(`${folder}/a%20b%23c.json`)).toBe("a b#c.json");
    expect(basename(`${folder}/model_int8.onnx`, ".onnx")).toBe("model_int8");
    expect(dirname(`${folder}/onnx/model.onnx`)).toBe(`${folder}/onnx`);
    expect(extname(`${folder}/model.ONNX`)).toBe(".ONNX");
    expect(extname(`${folder}/.hidden`)).toBe("");
  });

  it("are relative names as well, as manifests write them", () => {
    expect(join("onnx", "model.onnx")).toBe("onnx/model.onnx");
    expect(join("", "config.json")).toBe("config.json");
    expect(dirname("model.onnx")).toBe(".");
    expect(normalize("a/./b//../c")).toBe("a/c");
    expect(normalize("../x")).toBe("../x");
    expect([isAbsolute("/x"), isAbsolute("https://host/x"), isAbsolute("x/y")]).toEqual([true, true, false]);
  });

  it("stand for themselves where they are not well encoded", () => {
    expect(basename(`${folder}/100%.onnx`)).toBe("100%.onnx");
  });
});
