import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { standardBackends } from "../composition/node/standard-backends.ts";
import { standardProgramBackends } from "../programs/index.ts";
import { backendModules, oldSettingsFile, parseOldSettings, selectBackends } from "./selected-backends.ts";

describe("the backends of a bundle", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-config-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const select = async (names: readonly string[] | undefined, variables = {}) =>
    await selectBackends(names, { folder, variables });

  it("can be all that this package has", async () => {
    const names = Object.entries(backendModules);
    expect(names.flatMap(([name, { models }]) => (models === undefined ? [] : name)).toSorted()).toEqual(
      standardBackends()
        .map(({ name }) => name)
        .toSorted(),
    );
    expect(names.flatMap(([name, { programs }]) => (programs === undefined ? [] : name))).toEqual(
      standardProgramBackends().names,
    );
    const modules = names.flatMap(([, { models, programs }]) => [models ?? [], programs ?? []].flat());
    for (const { source, create } of modules)
      expect(await import(new URL(`../../${source}`, import.meta.url).href)).toHaveProperty(create);
  });

  it("are named by their own names and those of the document", async () => {
    expect(await select(["native", "mkl", "openmp", "triton"])).toMatchObject({ included: ["native", "xla", "blas"] });
    expect((await select(["onnx"])).left).toEqual(["native", "xla", "blas", "cuda", "llamacpp", "wasm", "library"]);
  });

  it.each([
    [[], /at least one/],
    [["native", "native"], /named twice/],
    [["CUDA"], /there is no backend "CUDA"/],
    [["tensorrt"], /there is no backend "tensorrt"/],
    [["native:wasm"], /names a device or level/],
    [["nki"], /cannot have nki: not used/],
    [["toString"], /there is no backend/],
  ])("refuse %j", async (names, message) => {
    await expect(select(names)).rejects.toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(message) });
  });

  it("come from inferyard.config, else from old variables", async () => {
    await expect(select(undefined)).rejects.toThrow(/at least one/);
    expect(await select(undefined, { YIRAGE_BACKEND_USE_XEON: "ON" })).toMatchObject({
      included: ["blas"],
      notes: [expect.stringContaining("YIRAGE_BACKEND_USE_XEON")],
    });
    writeFileSync(
      join(folder, oldSettingsFile),
      "# backends\nset(USE_CPU ON)\nset(USE_MPS OFF) # not here\nset(BUILD_CPP_EXAMPLES OFF)\n",
    );
    expect(await select(undefined, { YIRAGE_BACKEND_USE_XEON: "ON" })).toMatchObject({ included: ["native"] });
    writeFileSync(join(folder, oldSettingsFile), "set(USE_CPU OFF)\n");
    await expect(select(undefined)).rejects.toThrow(/at least one/);
    writeFileSync(join(folder, oldSettingsFile), "set(USE_TENSORRT ON)\n");
    await expect(select(undefined)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("are refused with the line that is no setting", () => {
    expect(parseOldSettings('USE_CUDA = "ON"\r\nset( USE_FORMAL_VERIFIER ON )\n')).toEqual({ YIRAGE_BACKEND_USE_CUDA: "ON" });
    expect(() => parseOldSettings("set(USE_CUDA ON)\nfind_package(CUDA)")).toThrow(/line 2, is no setting: find_package/);
  });
});
