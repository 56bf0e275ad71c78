import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentHolder } from "../storage/lock-holder.ts";
import { stagingName } from "../storage/staging.ts";
import { scriptedMachine } from "../testing/scripted-backend.ts";
import { type Measurement, measuredMachine, readMeasurements, recordMeasurements } from "./index.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-measurements-"));
});
afterEach(() => rm(folder, { recursive: true }));

const sha256 = (digit: string): string => digit.repeat(64);
const fileOf = (digit: string): string => join(folder, `${sha256(digit)}.json`);

function measurement(target: string, over: Partial<Measurement> = {}, digit = "a"): Measurement {
  return {
    at: "2026-11-20T10:00:00.000Z",
    machine: measuredMachine(scriptedMachine()),
    model: { digest: `sha256:${sha256(digit)}`, variant: "fp32", path: "/m/model.onnx", bytes: 90, modifiedMs: 1 },
    target,
    library: { name: "lib", version: "1.0.0" },
    threads: 2,
    settings: {},
    figures: {
      rounds: 3,
      unit: "texts",
      loadMs: 100,
      latencyMs: 5,
      latencyRangeMs: [4, 6],
      perSecond: 90,
      memoryBytes: -1,
    },
    ...over,
  };
}

const record = (...measurements: Measurement[]): Promise<string[]> => recordMeasurements(measurements, folder);
const targets = async (): Promise<string[]> => {
  const { measurements } = await readMeasurements(folder);
  return measurements.map(({ target, library }) => `${target} ${library.version}`).toSorted();
};

describe("what is kept", () => {
  it("is read back as it was, one file for each set of weights", async () => {
    const kept = [measurement("onnx:cpu"), measurement("wasm:cpu"), measurement("onnx:cpu", {}, "b")];
    expect(await record(...kept)).toEqual([fileOf("a"), fileOf("b")]);
    expect((await readdir(folder)).toSorted()).toEqual([`${sha256("a")}.json`, `${sha256("b")}.json`]);
    const { measurements, problems } = await readMeasurements(folder);
    expect(problems).toEqual([]);
    expect(measurements).toHaveLength(3);
    expect(measurements).toEqual(expect.arrayContaining(kept));
  });

  it("is nothing before the first, also where the folder is not there", async () => {
    expect(await readMeasurements(join(folder, "none"))).toEqual({ measurements: [], problems: [] });
  });

  it("the same thing measured again takes the place of what was measured before; another version of the engine stands beside it", async () => {
    await record(measurement("onnx:cpu"));
    await record(measurement("onnx:cpu", { at: "2026-11-21T10:00:00.000Z" }));
    await record(measurement("onnx:cpu", { library: { name: "lib", version: "2.0.0" } }), measurement("wasm:cpu"));
    expect(await targets()).toEqual(["onnx:cpu 1.0.0", "onnx:cpu 2.0.0", "wasm:cpu 1.0.0"]);
    const { measurements } = await readMeasurements(folder);
    expect(measurements.find(({ library }) => library.version === "1.0.0")?.at).toBe("2026-11-21T10:00:00.000Z");
  });

  it("of other machines stays: a home folder may be shared", async () => {
    const machine = { ...measuredMachine(scriptedMachine()), processor: "another" };
    await record(measurement("onnx:cpu", { machine }));
    await record(measurement("onnx:cpu"));
    expect(await targets()).toHaveLength(2);
  });

  it("settings of a later version are kept, and make it another measurement", async () => {
    const later = { somethingNew: 3 } as Measurement["settings"];
    await record(measurement("onnx:cpu", { settings: later }), measurement("onnx:cpu"));
    expect(await targets()).toHaveLength(2);
  });
});

describe("many writers", () => {
  it("lose nothing of each other's", async () => {
    const names = Array.from({ length: 12 }, (_writer, index) => `engine-${index}:cpu`);
    await Promise.all(names.map((name) => record(measurement(name))));
    expect(await targets()).toEqual(names.map((name) => `${name} 1.0.0`).toSorted());
    expect(await readdir(folder)).toEqual([`${sha256("a")}.json`]); // neither a lock nor half a file is left
  });

  it("one that was killed blocks nobody for long, and what it left goes away", async () => {
    const { pid } = spawnSync("true"); // of a process that has ended
    await writeFile(`${fileOf("a")}.lock`, JSON.stringify({ ...(await currentHolder()), pid }));
    await writeFile(`${fileOf("a")}${stagingName("writing").replace(`-${process.pid}-`, `-${pid}-`)}`, '{"version":1,"measure');
    await record(measurement("onnx:cpu"));
    expect(await targets()).toEqual(["onnx:cpu 1.0.0"]);
    expect(await readdir(folder)).toEqual([`${sha256("a")}.json`]);
  });
});

describe("a damaged file", () => {
  it.each([
    ["cut off", '{"version":1,"measurements":[{"at":"2026'],
    ["empty", ""],
    ["of another shape", '{"version":1,"measurements":[{"target":7}]}'],
    ["of a later version", '{"version":2,"measurements":[]}'],
  ])("%s is a reason, and the other files are read", async (_name, text) => {
    await record(measurement("onnx:cpu", {}, "b"));
    await writeFile(fileOf("a"), text);
    const { measurements, problems } = await readMeasurements(folder);
    expect(measurements).toHaveLength(1);
    expect(problems).toEqual([{ digest: `sha256:${sha256("a")}`, reason: expect.stringContaining(`${fileOf("a")} is damaged`) }]);
  });

  it("is replaced by the next measurement", async () => {
    await writeFile(fileOf("a"), "{");
    await record(measurement("onnx:cpu"));
    expect(JSON.parse(await readFile(fileOf("a"), "utf8"))).toMatchObject({ version: 1, measurements: [{ target: "onnx:cpu" }] });
  });

  it("a record under the name of other weights is not believed", async () => {
    await record(measurement("onnx:cpu", {}, "b"));
    await writeFile(fileOf("a"), await readFile(fileOf("b")));
    expect((await readMeasurements(folder)).measurements).toHaveLength(1);
  });
});

it("a folder that cannot be made is OUTPUT_FAILED, with what to do", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  await expect(recordMeasurements([measurement("onnx:cpu")], join(file, "measurements"))).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    remedy: expect.stringContaining("INFERYARD_HOME"),
  });
});
