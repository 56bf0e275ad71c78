/** What the long suite installs is kept between runs, and half or damaged installations are not used. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { keptInstallation } from "../fixtures/installations.ts";

const root = mkdtempSync(join(tmpdir(), "inferyard-installations-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Installs one file, and counts how often. */
function installer(): { readonly times: () => number; readonly install: (folder: string) => Promise<void> } {
  let times = 0;
  const install = async (folder: string): Promise<void> => {
    times += 1;
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(join(folder, "client.js"), "export {};");
  };
  return { times: () => times, install };
}

describe("an installation", () => {
  it("is made once for each list of packages, by those that ask at the same time too", async () => {
    const { times, install } = installer();
    const both = await Promise.all([1, 2].map(() => keptInstallation({ packages: ["client@1"] }, install, root)));
    expect(both[0]).toBe(both[1]);
    expect(await keptInstallation({ packages: ["client@1"] }, install, root)).toBe(both[0]);
    expect(times()).toBe(1);
    expect(readFileSync(join(both[0]!, "client.js"), "utf8")).toBe("export {};");
    expect(await keptInstallation({ packages: ["client@2"] }, install, root)).not.toBe(both[0]);
    expect(times()).toBe(2);
  });

  it("that fails is not kept, whatever it left", async () => {
    const { times, install } = installer();
    const key = { packages: ["half"] };
    const half = async (folder: string): Promise<void> => {
      await install(folder);
      throw new Error("the registry went away");
    };
    await expect(keptInstallation(key, half, root)).rejects.toThrow("the registry went away");
    await keptInstallation(key, install, root);
    expect(times()).toBe(2);
  });

  it.each([
    ["a file that is gone", (folder: string) => rmSync(join(folder, "client.js"))],
    ["a file that is cut", (folder: string) => writeFileSync(join(folder, "client.js"), "exp")],
    ["no record", (folder: string) => rmSync(`${folder}.json`)],
    ["a damaged record", (folder: string) => writeFileSync(`${folder}.json`, "{")],
  ])("with %s is made again", async (name, damage) => {
    const { times, install } = installer();
    const folder = await keptInstallation({ packages: [name] }, install, root);
    damage(folder);
    expect(await keptInstallation({ packages: [name] }, install, root)).toBe(folder);
    expect(readFileSync(join(folder, "client.js"), "utf8")).toBe("export {};");
    expect(times()).toBe(2);
  });
});
