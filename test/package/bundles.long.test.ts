/** `inferyard build` without an entry: the command line with one backend, in a folder that was moved. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBundle } from "../../src/bundling/build-bundle.ts";
import { selectBackends } from "../../src/bundling/selected-backends.ts";

describe("a bundle of the command line with native alone", () => {
  let folder: string;
  let start: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-bundle-"));
    const backends = await selectBackends(["cpu"], { folder, variables: {} });
    start = (await buildBundle({ out: "bundle", directory: folder, backends })).program;
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const environment = () => ({ ...process.env, INFERYARD_HOME: folder });

  it.each(["inline", "worker", "process"])("computes with the model in it, %s", (host) => {
    const args = [start, "embed", "a text", "--json", "--host", host];
    const printed = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env: environment() })) as object;
    expect(printed).toMatchObject({ target: "native:cpu", dimensions: 256 });
  });

  it("names a backend that was left out", () => {
    const { status, stderr } = spawnSync(process.execPath, [start, "embed", "a text", "--target", "onnx"], {
      encoding: "utf8",
      env: environment(),
    });
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/the backend onnx is not compiled in: this bundle has native/);
  });

  it("makes no bundles itself", () => {
    const { stderr } = spawnSync(process.execPath, [start, "build", "--backends", "native"], {
      encoding: "utf8",
      env: environment(),
    });
    expect(stderr).toMatch(/NOT_BUILT/);
  });
});
