import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoadSettings } from "../../backend.ts";
import type { Session } from "../onnxruntime/library.ts";
import { makeProfileFolder, profilingOptions, readEvidence } from "./profile.ts";
import { type Provider, providerOf } from "./providers.ts";

const provider = (type: string): Provider => providerOf({ type, index: 0 })!;

/** A profile as onnxruntime 1.30 writes it: a list of events, of which those of the category "Node" name a provider. */
function profileOf(nodes: readonly string[]): string {
  const session = { cat: "Session", name: "model_run", ph: "X", args: {} };
  const events = nodes.map((name) => ({
    cat: "Node",
    name: "MatMul_kernel_time",
    ph: "X",
    args: { provider: name, op_name: "MatMul" },
  }));
  return JSON.stringify([session, ...events]);
}

async function evidenceOf(
  nodes: readonly string[],
  type: string,
  cpuNodes?: LoadSettings["cpuNodes"],
): Promise<readonly string[]> {
  const folder = (await makeProfileFolder())!;
  expect(profilingOptions(folder)).toEqual({ enableProfiling: true, profileFilePrefix: join(folder, "run") });
  const session: Pick<Session, "endProfiling"> = {
    endProfiling: () => writeFileSync(join(folder, "run_2026-11-21.json"), profileOf(nodes)),
  };
  return readEvidence(session as Session, folder, provider(type), cpuNodes).finally(() => expect(existsSync(folder)).toBe(false));
}

const [cpu, cuda] = ["CPUExecutionProvider", "CUDAExecutionProvider"];

describe("evidence from onnxruntime's profile", () => {
  it("counts the nodes that the provider asked for has computed", async () => {
    expect(await evidenceOf([cpu, cpu, cpu], "cpu")).toEqual([
      "onnxruntime's profile of the first run: 3 nodes on CPUExecutionProvider",
    ]);
    expect(await evidenceOf([cuda], "cuda")).toEqual(["onnxruntime's profile of the first run: 1 node on CUDAExecutionProvider"]);
  });

  it.each([
    ["all of it", [cpu, cpu]],
    ["a single node", [cuda, cuda, cpu]],
  ])("what was computed elsewhere, %s, is not the device that was asked for", async (_name, nodes) => {
    await expect(evidenceOf(nodes, "cuda")).rejects.toMatchObject({
      code: "VERIFICATION_FAILED",
      message: expect.stringContaining("CUDAExecutionProvider was asked for"),
    });
  });

  it("single nodes on the CPU are told, not refused, where the caller allows them; the device must still have computed", async () => {
    expect(await evidenceOf([cuda, cpu, cuda], "cuda", "allow")).toEqual([
      "onnxruntime's profile of the first run: 2 nodes on CUDAExecutionProvider, 1 node on CPUExecutionProvider",
    ]);
    await expect(evidenceOf([cpu], "cuda", "allow")).rejects.toMatchObject({ code: "VERIFICATION_FAILED" });
  });

  it("a profile that names no node is no evidence", async () => expect(await evidenceOf([], "cpu")).toEqual([]));

  it("without a folder nothing is profiled", async () => {
    expect(profilingOptions(undefined)).toEqual({});
    expect(await readEvidence({} as Session, undefined, provider("cpu"), undefined)).toEqual([]);
  });
});
