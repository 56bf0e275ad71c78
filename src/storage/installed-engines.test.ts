import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { engineFolders, findPackageManifest, importEngine, loadScript } from "./installed-engines.ts";

const root = mkdtempSync(join(tmpdir(), "inferyard-engines-"));
const [data, shared] = [join(root, "data"), join(root, "shared")];
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Puts a package that nothing else has into the folder of an engine. */
function install(folder: string, engine: string, says: string): void {
  const own = join(folder, engine, "node_modules", "engine-of-a-test");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "package.json"), '{ "name": "engine-of-a-test", "type": "module", "exports": "./index.js" }');
  writeFileSync(join(own, "index.js"), `export const says = ${JSON.stringify(says)};`);
  writeFileSync(join(folder, engine, loadScript.name), loadScript.text);
}

/** Imports the package, as code that is written for npm's folders does: it is in none of them. */
const load = (): Promise<unknown> =>
  importEngine("engine-of-a-test", "onnx", () =>
    Promise.reject(Object.assign(new Error("Cannot find package 'engine-of-a-test'"), { code: "ERR_MODULE_NOT_FOUND" })),
  );

describe("an engine of an administrator", () => {
  it("is taken from the folder of INFERYARD_ENGINES, after the data folder", async () => {
    vi.stubEnv("INFERYARD_HOME", data);
    await expect(load()).rejects.toThrow("Cannot find package");
    install(shared, "onnx", "of the administrator");
    await expect(load()).rejects.toThrow("Cannot find package");
    vi.stubEnv("INFERYARD_ENGINES", shared);
    expect(engineFolders("onnx")).toEqual([join(data, "engines", "onnx"), join(shared, "onnx")]);
    expect(await load()).toMatchObject({ says: "of the administrator" });
    const manifest = findPackageManifest("engine-of-a-test", "onnx", import.meta.url);
    expect(manifest).toBe(join(shared, "onnx", "node_modules", "engine-of-a-test", "package.json"));
    install(join(data, "engines"), "onnx", "of the user");
    const found = findPackageManifest("engine-of-a-test", "onnx", import.meta.url);
    expect(found).toBe(join(data, "engines", "onnx", "node_modules", "engine-of-a-test", "package.json"));
  });
});
