/** Self-tests that passed, remembered between starts of the built package. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRuntime } from "inferyard";
import type { Backend } from "inferyard/backend";
import { llamacpp } from "inferyard/backends/llamacpp";
import { native } from "inferyard/backends/native";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const homeBefore = process.env["INFERYARD_HOME"];
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "inferyard-remembered-"));
  process.env["INFERYARD_HOME"] = home;
});
afterEach(() => {
  if (homeBefore === undefined) delete process.env["INFERYARD_HOME"];
  else process.env["INFERYARD_HOME"] = homeBefore;
  rmSync(home, { recursive: true });
});

const records = (): readonly string[] => readdirSync(join(home, "self-tests")).map((name) => join(home, "self-tests", name));

/** What a new runtime says of `native:cpu`, after a run. */
const doctorOfNative = async (options: { readonly full?: boolean } = {}): Promise<string> => doctorOf(native(), options);

/** What a new runtime with one backend says of its CPU, after a run. */
async function doctorOf(backend: Backend, options: { readonly full?: boolean } = {}): Promise<string> {
  const runtime = await createRuntime({ backends: [backend] });
  try {
    const [report] = await runtime.backends({ run: true, ...options });
    const { availability } = report!;
    if (!availability.present) throw new Error(availability.reason);
    const { state, reason, warning } = availability.devices.find(({ device }) => device.type === "cpu")!;
    expect({ state, warning }).toEqual({ state: "available" });
    return reason;
  } finally {
    await runtime.dispose();
  }
}

const allNow =
  /; \d{3} functions of generated code agree with the interpreter(; machine code with .*: \d+ families of kernels agree)?$/;
const remembered =
  /; \d{3} functions of generated code agree with the interpreter \(\d{3} remembered from \d{4}-\d\d-\d\d\)(; machine code with .*: \d+ families of kernels agree)?$/;

describe("checks of generated code", () => {
  it("that passed are remembered; `full` and a damaged record repeat them, and the record is written again", async () => {
    expect(await doctorOfNative()).toMatch(allNow);
    expect(records()).toHaveLength(1);
    expect(await doctorOfNative()).toMatch(remembered);
    expect(await doctorOfNative({ full: true })).toMatch(allNow);
    expect(await doctorOfNative()).toMatch(remembered);
    expect(records()).toHaveLength(1);
    const [record = ""] = records();
    writeFileSync(record, readFileSync(record, "utf8").replace("matmul", "matmux"));
    expect(await doctorOfNative()).toMatch(allNow);
    expect(await doctorOfNative()).toMatch(remembered);
  });

  it("run each time where nothing can be written", async () => {
    process.env["INFERYARD_HOME"] = join(home, "file", "below");
    writeFileSync(join(home, "file"), "");
    expect(await doctorOfNative()).toMatch(allNow);
    expect(await doctorOfNative()).toMatch(allNow);
  });
});

describe("the tiny model of llamacpp", () => {
  it("is remembered once it has run with the right tokens", async () => {
    const first = await doctorOf(llamacpp());
    expect(first).toMatch(/^a tiny model gives the right logits; ggml-org/);
    const [record = "", ...others] = records();
    expect(others).toEqual([]);
    const day = (JSON.parse(readFileSync(record, "utf8")) as { since: string }).since.slice(0, 10);
    const engine = first.slice(first.indexOf("; ") + 2);
    const again = `a tiny model gives the right logits (remembered from ${day}; the libraries load); ${engine}`;
    expect(await doctorOf(llamacpp())).toBe(again);
  });
});

const [skip, name] = needsData("a model on native");
describe.skipIf(skip)(name, () => {
  /** A vector, and the sentences of the evidence that begin with one of these words. */
  const embed = async (): Promise<{ readonly vector: readonly number[]; readonly checks: string; readonly code: string }> => {
    const runtime = await createRuntime({ backends: [native()], host: "inline" });
    const { embeddings, decision } = await runtime.embed("hello", { model: `${sharedData}all-MiniLM-L6-v2` });
    await runtime.dispose();
    const sentence = (start: string): string => decision.selected!.evidence.find((each) => each.startsWith(start))!;
    return {
      vector: [...(embeddings[0] as Float32Array)],
      checks: sentence("kernel checks: "),
      code: sentence("machine code: "),
    };
  };

  it("remembers the checks of its kernels for the next load, and its decision says so", async () => {
    const { checks } = await embed();
    expect(checks).toMatch(/^kernel checks: (\d+) functions of generated code agree with the interpreter$/);
    expect((await embed()).checks).toMatch(
      /^kernel checks: (\d+) functions of generated code agree with the interpreter \(\1 remembered from \d{4}-\d\d-\d\d\)$/,
    );
  });

  it("keeps its machine code for the next load, generates it again where it was damaged, and computes the same bits", async ({
    skip: leaveOut,
  }) => {
    const first = await embed();
    if (first.code.startsWith("machine code: none")) leaveOut("this machine has no machine code");
    const fresh = /^machine code: (\d+) of \d+ kernels, up to [A-Z0-9 -]+$/;
    const kept = /^machine code: (\d+) of \d+ kernels, up to [A-Z0-9 -]+, \1 of them from the cache on disk$/;
    const second = await embed();
    const folder = join(home, "machine-code");
    const files = (): readonly string[] => readdirSync(folder).map((file) => join(folder, file));
    for (const file of files()) writeFileSync(file, readFileSync(file).subarray(0, -100), { mode: 0o600 });
    const third = await embed();
    process.env["INFERYARD_MACHINE_CODE_CACHE"] = "off";
    const fourth = await embed();
    delete process.env["INFERYARD_MACHINE_CODE_CACHE"];
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "no folder");
    const fifth = await embed();
    expect([first.code, second.code, third.code, fourth.code, fifth.code]).toEqual([
      expect.stringMatching(fresh),
      expect.stringMatching(kept),
      expect.stringMatching(fresh),
      expect.stringMatching(fresh),
      expect.stringMatching(/^machine code: \d+ of \d+ kernels, up to [A-Z0-9 -]+; they are not kept on disk: .* is no folder$/),
    ]);
    for (const { vector } of [second, third, fourth, fifth]) expect(vector).toEqual(first.vector);
  });
});
